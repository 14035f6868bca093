"""A known submission that imports from a file beside it is graded as one whole text."""

from pathlib import Path

import pytest

from grader import overlays

BASELINE = '''"""Adds up one by one."""

import math

LIMIT = 3


# The helper of both.
def limited(x):
    return min(x, LIMIT)


def unused(x):
    return math.sqrt(x)


def total(numbers):
    return limited(sum(numbers))
'''


def written(folder: Path, **sources: str) -> Path:
    """Write these files into a folder; return the path of the last one."""
    for name, source in sources.items():
        path = folder / f"{name}.py"
        path.write_text(source, encoding="utf-8")
    return path


def test_the_imported_definitions_and_all_that_they_use_take_the_place_of_the_import(tmp_path: Path) -> None:
    own = '"""Forgets the last."""\n\nfrom baseline import limited\n\n\ndef total(x):\n    return limited(sum(x) - 1)\n'
    text = overlays.whole(written(tmp_path, baseline=BASELINE, wrong_last=own))
    assert text.startswith('"""Forgets the last."""')
    assert "# The helper of both." in text
    names: dict[str, object] = {}
    exec(text, names)  # noqa: S102 - the test's own
    assert {"total", "limited", "LIMIT"} <= set(names)
    assert not {"unused", "math"} & set(names)


def test_a_file_may_import_from_one_that_imports_itself(tmp_path: Path) -> None:
    middle = "from baseline import limited\n\n\ndef doubled(x):\n    return limited(2 * x)\n"
    last = "from tier1_middle import doubled\n\n\ndef total(numbers):\n    return doubled(sum(numbers))\n"
    names: dict[str, object] = {}
    exec(overlays.whole(written(tmp_path, baseline=BASELINE, tier1_middle=middle, tier2_last=last)), names)  # noqa: S102
    total = names["total"]
    assert callable(total)
    assert total([1, 1]) == 3


@pytest.mark.parametrize("text", ["import math\nfrom itertools import product\nx = 1\nx = 2\n# the end", "def total("])
def test_a_file_without_such_an_import_stays_as_it_is(tmp_path: Path, text: str) -> None:
    assert overlays.whole(written(tmp_path, baseline=text)) == text


def test_two_definitions_of_one_name_are_refused(tmp_path: Path) -> None:
    own = "from baseline import limited\n\nLIMIT = 4\n\n\ndef total(numbers):\n    return limited(sum(numbers))\n"
    with pytest.raises(ValueError, match=r"tier1_more\.py defines LIMIT"):
        overlays.whole(written(tmp_path, baseline=BASELINE, tier1_more=own))
