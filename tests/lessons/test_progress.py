import json
from pathlib import Path

import pytest
from sessions import Play

from harness.errors import UsageError
from lessons.engine.progress import Progress, Told


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
