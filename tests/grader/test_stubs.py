import pytest

from grader import catalogue
from grader.stubs import SolutionError, stub_of


def test_what_stands_outside_the_marks_is_kept_and_what_is_between_is_not() -> None:
    solution = "import math\n# BEGIN SOLUTION\nSECRET = 3\n# END SOLUTION\nprint(math.pi)\n"
    assert stub_of(solution) == "import math\nprint(math.pi)\n"


def test_a_function_without_lines_for_the_stub_raises_and_names_itself() -> None:
    solution = "def double(x):\n    # BEGIN SOLUTION\n    return 2 * x\n    # END SOLUTION\n"
    assert stub_of(solution) == 'def double(x):\n    raise NotImplementedError("Write double.")\n'


def test_lines_for_the_stub_keep_their_indentation() -> None:
    solution = (
        "def f(xs):\n    # BEGIN SOLUTION\n    # STUB: for x in xs:\n    # STUB:     print(x)\n"
        "    return sum(xs)\n    # END SOLUTION\n"
    )
    assert stub_of(solution) == "def f(xs):\n    for x in xs:\n        print(x)\n"


@pytest.mark.parametrize(
    ("solution", "message"),
    [
        ("# BEGIN SOLUTION\n", "line 1 never ends"),
        ("x = 1\n# END SOLUTION\n", "Line 2 ends a solution that did not begin"),
        ("# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION\n", "inside that of line 1"),
        ("if True:\n# BEGIN SOLUTION\n    x = 1\n# END SOLUTION\n", "would not be Python"),
    ],
)
def test_marks_that_do_not_fit_are_one_clear_sentence(solution: str, message: str) -> None:
    with pytest.raises(SolutionError, match=message):
        stub_of(solution)


@pytest.mark.parametrize("lesson", catalogue.load().lessons)
def test_the_committed_stub_is_the_one_generated_from_the_solution(lesson: str) -> None:
    solution = catalogue.solution(lesson).read_text(encoding="utf-8")
    assert catalogue.stub(lesson).read_text(encoding="utf-8") == stub_of(solution)
