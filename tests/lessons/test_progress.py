import json
from dataclasses import replace
from pathlib import Path

import pytest
from sessions import Play

from harness.errors import UsageError
from lessons.engine.claim import claim
from lessons.engine.progress import Progress, Told, after
from lessons.engine.record import LessonRecord, StepRecord, Unfinished


def test_progress_survives_to_the_next_run(prepare: Play, state: Path) -> None:
    played = prepare(typed=["b", ""])
    played.session.play()
    Progress().keep(played.session.record())
    standings = Progress().load()["small_lesson"]
    assert standings.complete
    assert standings.held == 2
    assert standings.claims == {"twice-is-two": "held", "root": "held"}
    assert standings.predictions == {"twice": Told("Is `twice` more than once?", "no", "yes", right=False)}
    assert list(standings.durations_s) == ["default"]
    assert [path.name for path in state.iterdir()] == ["progress.json"]


def test_a_lesson_once_complete_stays_complete_and_keeps_what_was_predicted(prepare: Play) -> None:
    whole, part = prepare(typed=["b", ""]), prepare(typed=[""])
    whole.session.play()
    Progress().keep(whole.session.record())
    with pytest.raises(EOFError):
        part.session.play()
    Progress().keep(part.session.record())
    standings = Progress().load()["small_lesson"]
    assert standings.complete
    assert standings.steps_done == 1
    assert standings.predictions["twice"].answer == "no"


def test_short_and_usual_runs_are_timed_apart(prepare: Play) -> None:
    for fast in (False, True):
        played = prepare(fast=fast)
        played.session.play()
        Progress().keep(played.session.record())
    assert sorted(Progress().load()["small_lesson"].durations_s) == ["default", "fast"]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"format": 1}',
        b'{"format": 99, "lessons": {}}',
        b'{"format": 1, "lessons": {"a": {}}}',
        b'{"format": 1, "lessons": {"a": 3}}',
        b"\xff\xfe",
        json.dumps(
            {
                "format": 1,
                "lessons": {
                    "a": {
                        "last_run_utc": "yesterday",
                        "complete": True,
                        "steps_done": 1,
                        "claims": {},
                        "predictions": {},
                        "durations_s": {},
                    }
                },
            }
        ).encode(),
    ],
)
def test_a_damaged_file_is_set_aside_with_one_sentence(state: Path, prepare: Play, damage: bytes) -> None:
    state.mkdir()
    (state / "progress.json").write_bytes(damage)
    progress = Progress()
    assert progress.load() == {}
    assert "damaged; it is set aside" in progress.remark
    assert (state / "progress.damaged.json").read_bytes() == damage
    played = prepare()
    played.session.play()
    progress.keep(played.session.record())
    assert list(Progress().load()) == ["small_lesson"]


def test_a_state_folder_that_cannot_be_is_one_sentence(state: Path, prepare: Play) -> None:
    state.write_text("a file where the folder should be")
    played = prepare()
    played.session.play()
    with pytest.raises(UsageError, match="set FAIRCLOCK_STATE to a folder"):
        Progress().keep(played.session.record())


OLDER = {
    "last_run_utc": "2026-01-02T03:04:05+00:00",
    "complete": False,
    "steps_done": 1,
    "claims": {"twice-is-two": "held"},
    "predictions": {"twice": {"question": "?", "answer": "no", "truth": "yes", "right": False}},
    "durations_s": {"fast": 0.1},
}
"""A lesson as the first version of the kit kept it."""


@pytest.mark.parametrize(("complete", "left"), [(False, Unfinished(1, {"twice-is-two": "held"})), (True, None)])
def test_a_file_of_the_first_version_is_read(state: Path, complete: bool, left: Unfinished | None) -> None:
    state.mkdir()
    whole = {"format": 1, "lessons": {"small_lesson": {**OLDER, "complete": complete}}}
    (state / "progress.json").write_text(json.dumps(whole))
    progress = Progress()
    standings = progress.load()["small_lesson"]
    assert progress.remark == ""
    assert (standings.complete, standings.held, standings.left) == (complete, 1, left)
    assert standings.predictions["twice"].answer == "no"


def run_of(record: LessonRecord, *measured: float, complete: bool = True) -> LessonRecord:
    """A run of one step a claim, each of which holds when it measured 1."""
    steps = [StepRecord(f"s{n}", "", 0.1, None, (claim(f"c{n}", value, 1, 1),)) for n, value in enumerate(measured)]
    return replace(record, steps=tuple(steps), complete=complete, earlier=None)


@pytest.fixture
def record(prepare: Play) -> LessonRecord:
    return prepare().session.record()


def test_the_best_complete_run_is_kept(record: LessonRecord) -> None:
    best = after(run_of(record, 1, 1, 0), after(run_of(record, 1, 0, 0), None))
    assert best.held == 2
    assert after(run_of(record, 1, 0, 0), best).held == 2
    assert after(run_of(record, 1, 1, 1), best).held == 3


def test_a_part_of_a_run_never_stands_for_a_whole_one(record: LessonRecord) -> None:
    part = after(run_of(record, 1, 1, complete=False), None)
    assert (part.complete, part.left) == (False, Unfinished(2, {"c0": "held", "c1": "held"}))
    whole = after(run_of(record, 0, 0, 1), part)
    assert (whole.held, whole.left) == (1, None)
    again = after(run_of(record, 1, 1, complete=False), whole)
    assert (again.held, again.asked) == (1, 3)


def test_of_unfinished_runs_the_one_that_came_furthest_is_kept(record: LessonRecord) -> None:
    far = after(run_of(record, 1, 1, complete=False), None)
    near = after(run_of(record, 0, complete=False), far)
    assert near.left == far.left
    assert near.steps_done == 2


def test_a_run_that_went_on_counts_with_what_came_before(record: LessonRecord) -> None:
    left = Unfinished(2, {"c7": "held", "c8": "refuted"})
    done = after(replace(run_of(record, 1), earlier=left), after(run_of(record, 1, 1, complete=False), None))
    assert done.complete
    assert done.claims == {"c7": "held", "c8": "refuted", "c0": "held"}
    assert done.durations_s == {}


def test_starting_over_forgets_the_place_with_the_first_step_that_is_done(record: LessonRecord) -> None:
    Progress().keep(run_of(record, 1, 1, complete=False))
    Progress().keep(run_of(record, 0, complete=False), over=True)
    left = Progress().load()["small_lesson"].left
    assert left is not None
    assert left.steps == 1
