"""A small class of realistic hand-ins, graded by the real command.

`tests/submissions` contains only the class, because each entry of that folder is a student. `tests/submissions.json`
has the expected status, points and tier of each task. A person decided them by reading the hand-ins, so edit them by
hand when a task changes. `python -m grader submit` wrote `juno.zip` from one file per lesson. To renew the zip, unpack
it and submit again.

    ada     right and fast, both tasks           hana    a notebook, right
    ben     right and slow; one task of two      ivan    a notebook with magics, and a note beside it
    chen    wrong in ways that are known         juno    a zip of all lessons, the first not begun
    dora    wrong in a way of her own            kofi    saved in Latin-1
    emil    one task of two, the rest the stub   lena    a folder where the file should be
    fatima  a syntax error                       and a name that every report has to escape, whose mean of ten
    george  an empty file                        long blocks is wrong
"""

from pathlib import Path

import pytest
from commanding import CLASS, golden, grader, nothing_left_running, outcomes, tree, verdicts

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


def test_every_hand_in_of_the_golden_class_gets_its_golden_verdict(tmp_path: Path) -> None:
    before = tree(CLASS)
    with nothing_left_running():
        ended = grader("run", CLASS, "--out", tmp_path / "grades", "--progress")
    assert ended.code == 0, ended.err
    assert verdicts(outcomes(tmp_path / "grades")) == golden()
    assert "13 students, 18 hand-ins, 30 tasks" in ended.err
    assert tree(CLASS) == before
