from pathlib import Path

import pytest
from classroom import ENVIRONMENT

from grader.desk import last_points
from grader.records import Attempt, Report, Status, Submission, Verdict
from lessons.engine import listing
from lessons.engine.listing import ExercisePoints


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAIRCLOCK_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def report(points: float = 6.0, lesson: str = "01_dot", status: Status = Status.PASSED) -> Report:
    submission = Submission("you", lesson, f"{lesson}.py", "00ff", "x = 1")
    verdict = Verdict(f"{lesson}.task", points, 10.0, None, Attempt(status))
    return Report(submission, (verdict,), ENVIRONMENT, sandboxed=False, duration_s=1.0)


def stored() -> dict[str, ExercisePoints]:
    """Return the stored points that the list of lessons shows."""
    return listing.load_points()


def test_the_last_points_of_each_lesson_are_kept(state: Path) -> None:
    for one in (report(4.0), report(6.0), report(0.0, "02_timer")):
        last_points.keep(one)
    assert stored() == {"01_dot": ExercisePoints(6.0, 10.0), "02_timer": ExercisePoints(0.0, 10.0)}
    assert [path.name for path in state.iterdir()] == [last_points.NAME], "no incomplete file is left"


@pytest.mark.usefixtures("state")
def test_an_internal_error_of_the_grader_keeps_the_points_before() -> None:
    last_points.keep(report(6.0))
    last_points.keep(report(0.0, status=Status.GRADER_ERROR))
    assert stored()["01_dot"].points == 6.0


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"{",
        b"[1]",
        b"\xff\xfe",
        b'{"format": 1, "lessons": 3}',
        b'{"format": 2, "lessons": {}}',
        b'{"format": 1, "lessons": {"02_timer": 1}}',
        b"[" * 9999,
    ],
)
def test_a_damaged_file_is_replaced(state: Path, damaged: bytes) -> None:
    state.mkdir()
    (state / last_points.NAME).write_bytes(damaged)
    last_points.keep(report())
    assert stored()["01_dot"].points == 6.0


def test_a_state_folder_that_cannot_be_written_changes_nothing(state: Path) -> None:
    state.write_text("a file where the folder should be")
    last_points.keep(report())
    assert state.read_text() == "a file where the folder should be"
