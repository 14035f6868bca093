import json
from dataclasses import replace
from pathlib import Path

import pytest
from sessions import Play

from lessons.engine.claim import Claim
from lessons.engine.interval import Interval
from lessons.engine.predict import PredictionResult
from lessons.engine.progress import ProgressFile, updated
from lessons.engine.record import LessonRecord, StepRecord, Unfinished


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


def test_a_damaged_file_is_renamed_and_reported(state: Path, record: LessonRecord) -> None:
    state.mkdir()
    right: dict[str, object] = {"last_run_utc": "", "complete": True, "steps_done": 1, "claims": {}, "predictions": {}}
    right |= {"durations_s": {}, "left": {"steps": 1, "claims": {}}}
    wrong: tuple[dict[str, object], ...] = ({"claims": {"a": "maybe"}}, {"steps_done": "x"}, {"left": {"steps": None}})
    files = [json.dumps({"format": 1, "lessons": {"a": right | field}}).encode() for field in ({}, *wrong)]
    (state / "progress.json").write_bytes(files[0])
    assert list(ProgressFile().load()) == ["a"]
    for damage in (b"{", b"null", b'{"format": 99, "lessons": {}}', b"\xff", *files[1:]):
        (state / "progress.json").write_bytes(damage)
        progress = ProgressFile()
        assert progress.load() == {}
        assert "was damaged. It was renamed to" in progress.warning
        assert (state / "progress.damaged.json").read_bytes() == damage
    progress.save(record)
    assert list(ProgressFile().load()) == ["small_lesson"]


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
    best = updated(updated(None, run_of(record, 1, 0, 0)), run_of(record, 1, 1, 0))
    assert best.held == 2
    assert updated(best, run_of(record, 1, 0, 0)).held == 2
    assert updated(best, run_of(record, 1, 1, 1)).held == 3


def test_an_unfinished_run_does_not_replace_a_complete_one(record: LessonRecord) -> None:
    part = updated(None, run_of(record, 1, 1, complete=False))
    assert (part.complete, part.left) == (False, Unfinished(2, {"c0": "held", "c1": "held"}))
    whole = updated(part, run_of(record, 0, 0, 1))
    assert (whole.held, whole.left) == (1, None)
    again = updated(whole, run_of(record, 1, 1, complete=False))
    assert (again.held, again.measured) == (1, 3)


def test_the_unfinished_run_with_the_most_steps_is_kept(record: LessonRecord) -> None:
    far = updated(None, run_of(record, 1, 1, complete=False))
    near = updated(far, run_of(record, 0, complete=False))
    assert near.left == far.left
    assert near.steps_done == 2


def test_a_run_that_continues_another_counts_its_steps_too_but_not_its_time(record: LessonRecord) -> None:
    left = Unfinished(2, {"c7": "held", "c8": "refuted"})
    before = updated(None, run_of(record, 1, 1, complete=False))
    done = updated(before, replace(run_of(record, 1), earlier=left, started_at=2))
    assert (done.complete, done.durations_s) == (True, {})
    assert done.claims == {"c7": "held", "c8": "refuted", "c0": "held"}
    short, usual = (updated(done, replace(run_of(record, 1), fast=fast)) for fast in (True, False))
    assert (list(short.durations_s), list(usual.durations_s)) == (["fast"], ["default"])


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
    whole = updated(None, run_of(record, 1, 1))
    assert updated(whole, part) == replace(whole, predictions={"s0": answered})
    first = updated(None, part)
    assert (first.complete, first.steps_done, first.left, first.claims) == (False, 0, None, {})
