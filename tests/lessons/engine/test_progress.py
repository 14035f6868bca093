import json
from dataclasses import replace
from pathlib import Path

import pytest
from sessions import Play

from harness.errors import UsageError
from lessons.engine.claim import Claim
from lessons.engine.interval import Interval
from lessons.engine.predict import PredictionResult
from lessons.engine.progress import LessonProgress, ProgressFile, updated
from lessons.engine.record import LessonRecord, StepRecord, Unfinished

OLDER = {
    "last_run_utc": "2026-01-02T03:04:05+00:00",
    "complete": False,
    "steps_done": 1,
    "claims": {"twice-is-two": "held"},
    "predictions": {"twice": {"question": "?", "answer": "no", "truth": "yes", "right": False}},
    "durations_s": {"fast": 0.1},
}
"""The progress in a lesson as the first version of the kit saved it."""


def test_progress_is_read_by_the_next_run(prepare: Play, state: Path) -> None:
    played = prepare(typed=["b", ""])
    played.session.play()
    ProgressFile().save(played.session.record())
    standings = ProgressFile().load()["small_lesson"]
    assert standings.complete
    assert standings.held == 2
    assert standings.claims == {"twice-is-two": "held", "root": "held"}
    assert standings.predictions == {"twice": PredictionResult("Is `twice` more than once?", "no", "yes", right=False)}
    assert list(standings.durations_s) == ["default"]
    assert [path.name for path in state.iterdir()] == ["progress.json"]


def test_a_complete_lesson_stays_complete_and_keeps_its_predictions(prepare: Play) -> None:
    whole, part = prepare(typed=["b", ""]), prepare(typed=[""])
    whole.session.play()
    ProgressFile().save(whole.session.record())
    with pytest.raises(EOFError):
        part.session.play()
    ProgressFile().save(part.session.record())
    standings = ProgressFile().load()["small_lesson"]
    assert standings.complete
    assert standings.steps_done == 1
    assert standings.predictions["twice"].answer == "no"


def test_the_times_of_short_and_usual_runs_are_separate(prepare: Play) -> None:
    for fast in (False, True):
        played = prepare(fast=fast)
        played.session.play()
        ProgressFile().save(played.session.record())
    assert sorted(ProgressFile().load()["small_lesson"].durations_s) == ["default", "fast"]


@pytest.mark.parametrize(
    "damage",
    [
        b"{",
        b"null",
        b'{"format": 99, "lessons": {}}',
        b'{"format": 1, "lessons": {"a": {}}}',
        b"\xff\xfe",
        json.dumps({"format": 1, "lessons": {"a": {**OLDER, "last_run_utc": "yesterday"}}}).encode(),
    ],
)
def test_a_damaged_file_is_renamed_and_reported(state: Path, prepare: Play, damage: bytes) -> None:
    state.mkdir()
    (state / "progress.json").write_bytes(damage)
    progress = ProgressFile()
    assert progress.load() == {}
    assert "was damaged. It was renamed to" in progress.warning
    assert (state / "progress.damaged.json").read_bytes() == damage
    played = prepare()
    played.session.play()
    progress.save(played.session.record())
    assert list(ProgressFile().load()) == ["small_lesson"]


def test_a_state_folder_that_cannot_be_made_is_reported(state: Path, prepare: Play) -> None:
    state.write_text("a file where the folder should be")
    played = prepare()
    played.session.play()
    with pytest.raises(UsageError, match="Set FAIRCLOCK_STATE to a folder"):
        ProgressFile().save(played.session.record())


@pytest.mark.parametrize(("complete", "left"), [(False, Unfinished(1, {"twice-is-two": "held"})), (True, None)])
def test_a_file_of_the_first_version_can_be_read(state: Path, complete: bool, left: Unfinished | None) -> None:
    state.mkdir()
    whole = {"format": 1, "lessons": {"small_lesson": {**OLDER, "complete": complete}}}
    (state / "progress.json").write_text(json.dumps(whole))
    progress = ProgressFile()
    standings = progress.load()["small_lesson"]
    assert progress.warning == ""
    assert (standings.complete, standings.held, standings.left) == (complete, 1, left)
    assert standings.predictions["twice"].answer == "no"


def later(record: LessonRecord, before: LessonProgress | None) -> LessonProgress:
    return updated(before, record)


def run_of(record: LessonRecord, *measured: float, complete: bool = True) -> LessonRecord:
    """Return a lesson's run with one step per value. The claim of a step holds if the step's value is 1."""
    steps = [
        StepRecord(f"s{n}", "", 0.1, None, (Claim(f"c{n}", "", 1, 1).settled(Interval.exact(value)),))
        for n, value in enumerate(measured)
    ]
    return replace(record, steps=tuple(steps), complete=complete, earlier=None)


@pytest.fixture
def record(prepare: Play) -> LessonRecord:
    return prepare().session.record()


def test_the_best_complete_run_is_kept(record: LessonRecord) -> None:
    best = later(run_of(record, 1, 1, 0), later(run_of(record, 1, 0, 0), None))
    assert best.held == 2
    assert later(run_of(record, 1, 0, 0), best).held == 2
    assert later(run_of(record, 1, 1, 1), best).held == 3


def test_an_unfinished_run_does_not_replace_a_complete_one(record: LessonRecord) -> None:
    part = later(run_of(record, 1, 1, complete=False), None)
    assert (part.complete, part.left) == (False, Unfinished(2, {"c0": "held", "c1": "held"}))
    whole = later(run_of(record, 0, 0, 1), part)
    assert (whole.held, whole.left) == (1, None)
    again = later(run_of(record, 1, 1, complete=False), whole)
    assert (again.held, again.measured) == (1, 3)


def test_the_unfinished_run_with_the_most_steps_is_kept(record: LessonRecord) -> None:
    far = later(run_of(record, 1, 1, complete=False), None)
    near = later(run_of(record, 0, complete=False), far)
    assert near.left == far.left
    assert near.steps_done == 2


def test_a_run_that_continues_another_counts_its_steps_too(record: LessonRecord) -> None:
    left = Unfinished(2, {"c7": "held", "c8": "refuted"})
    done = later(
        replace(run_of(record, 1), earlier=left, started_at=2), later(run_of(record, 1, 1, complete=False), None)
    )
    assert done.complete
    assert done.claims == {"c7": "held", "c8": "refuted", "c0": "held"}
    assert done.durations_s == {}


def test_a_restarted_run_drops_the_unfinished_run_after_its_first_step(record: LessonRecord) -> None:
    ProgressFile().save(run_of(record, 1, 1, complete=False))
    ProgressFile().save(run_of(record, 0, complete=False), restarted=True)
    left = ProgressFile().load()["small_lesson"].left
    assert left is not None
    assert left.steps == 1


def test_a_run_that_starts_at_a_later_step_changes_only_the_answers(record: LessonRecord) -> None:
    answered = PredictionResult("?", "no", "yes", right=False)
    part = run_of(record, 0, complete=False)
    part = replace(part, started_at=1, steps=(replace(part.steps[0], prediction=answered),))
    whole = later(run_of(record, 1, 1), None)
    assert later(part, whole) == replace(whole, predictions={"s0": answered})
    first = later(part, None)
    assert (first.complete, first.steps_done, first.left, first.claims) == (False, 0, None, {})
