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
'''
MIDDLE = "from baseline import limited\n\n\ndef doubled(x):\n    return limited(2 * x)\n"
LAST = '"""Doubles."""\n\nfrom tier1_middle import doubled\n\n\ndef total(numbers):\n    return doubled(sum(numbers))\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, source in {"baseline": BASELINE, "tier1_middle": MIDDLE, "tier2_last": LAST}.items():
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    return tmp_path


def test_the_imported_definitions_and_all_that_they_use_take_the_place_of_the_import(folder: Path) -> None:
    text = overlays.whole(folder / "tier2_last.py")
    assert text.startswith('"""Doubles."""')
    assert "# The helper of both." in text
    names: dict[str, object] = {}
    exec(text, names)  # noqa: S102 - the test's own
    assert {"total", "doubled", "limited", "LIMIT"} <= set(names)
    assert not {"unused", "math"} & set(names)
    total = names["total"]
    assert callable(total)
    assert total([1, 1]) == 3


def test_other_files_stay_as_they_are_and_two_definitions_of_one_name_are_refused(folder: Path) -> None:
    for text in ("import math\nfrom itertools import product\nx = 1\nx = 2\n# the end", "def total("):
        (folder / "tier1_middle.py").write_text(text)
        assert overlays.whole(folder / "tier1_middle.py") == text
    (folder / "tier1_middle.py").write_text("from baseline import limited\n\nLIMIT = 4\n")
    with pytest.raises(ValueError, match=r"tier1_middle\.py defines LIMIT"):
        overlays.whole(folder / "tier1_middle.py")
