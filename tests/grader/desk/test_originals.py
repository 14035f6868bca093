"""Which exercises count as changed by the student."""

import pytest

from grader.desk.originals import code_digest

STUB = '''"""About it."""

import math


def area(r):
    """Return the area."""
    raise NotImplementedError
'''


def test_what_computes_nothing_is_no_change() -> None:
    for same in (
        STUB.replace("\n", "\r\n"),
        STUB.replace('"""About it."""', '"""Something else."""'),
        "# mine\n" + STUB + "\n\n# todo\n",
        STUB.replace("import math\n", "import math   \n\n\n"),
        STUB + '\nif __name__ == "__main__":\n    print(area(3))\n',
    ):
        assert code_digest(same) == code_digest(STUB), same


@pytest.mark.parametrize(
    "other",
    [
        STUB.replace("raise NotImplementedError", "return math.pi * r**2"),
        STUB + "\nLIMIT = 3\n",
        STUB.replace("raise", "  raise"),
        STUB + '\nif __name__ == "__main__":\n    pass\nelse:\n    area = abs\n',
        STUB + '\nif __name__ != "__main__":\n    area = abs\n',
        STUB.replace('"""Return the area."""', '"""Return the area.\n\n    # include\n    """'),
        "def f(:\n",
        "",
        "x = '\0'",
        "(" * 10_000,
    ],
)
def test_what_computes_something_else_is_a_change(other: str) -> None:
    assert code_digest(other) != code_digest(STUB)


def test_lines_of_a_text_count_though_they_look_like_comments() -> None:
    with_c = 'SOURCE = """\n#define N 3\n\nint f;\n"""\n'
    assert code_digest(with_c) != code_digest(with_c.replace("#define N 3\n", ""))
    assert code_digest(with_c) != code_digest(with_c.replace("N 3\n\n", "N 3\n"))
