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

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from commanding import CLASS, CommandResult, golden, grader, nothing_left_running, outcomes, tree, verdicts
from once import once

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


@dataclass(frozen=True)
class Graded:
    """The golden class after its first run."""

    out: Path
    ended: CommandResult


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    def grade(folder: Path) -> None:
        before = tree(CLASS)
        with nothing_left_running():
            ended = grader("run", CLASS, "--out", folder / "grades", "--progress")
        assert tree(CLASS) == before
        (folder / "ended.json").write_text(json.dumps(asdict(ended)))

    folder = once(tmp_path_factory, "golden", grade)
    return Graded(folder / "grades", CommandResult(**json.loads((folder / "ended.json").read_text())))


def test_every_hand_in_of_the_golden_class_gets_its_golden_verdict(graded: Graded) -> None:
    assert verdicts(outcomes(graded.out)) == golden()
    assert graded.ended.code == 0, graded.ended.err
    assert "13 students, 18 hand-ins, 30 tasks" in graded.ended.err


def test_a_second_call_and_a_report_change_nothing(graded: Graded, tmp_path: Path) -> None:
    shutil.copytree(graded.out, out := tmp_path / "grades")
    before = tree(out)
    again = grader("run", CLASS, "--out", out)
    assert again.code == 0
    assert again.out.splitlines()[1].startswith("There is nothing to grade: all 18 hand-ins were graded before.")
    assert tree(out) == before
    (out / "report.html").unlink()
    assert grader("report", out).code == 0
    assert tree(out) == before, "reports are made again from the journal alone"
