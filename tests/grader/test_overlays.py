"""A known submission that imports from a file beside it is graded as one whole text."""

from pathlib import Path

import pytest

from grader import overlays

BASELINE = "LIMIT = 3\n\n\ndef limited(x):\n    return min(x, LIMIT)\n"


def test_other_files_stay_as_they_are_and_two_definitions_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "baseline.py").write_text(BASELINE)
    for text in ("import math\nfrom itertools import product\nx = 1\nx = 2\n# the end", "def total("):
        (tmp_path / "tier1_middle.py").write_text(text)
        assert overlays.whole(tmp_path / "tier1_middle.py") == text
    (tmp_path / "tier1_middle.py").write_text("from baseline import limited\n\nLIMIT = 4\n")
    with pytest.raises(ValueError, match=r"tier1_middle\.py defines LIMIT"):
        overlays.whole(tmp_path / "tier1_middle.py")
