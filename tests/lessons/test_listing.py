from pathlib import Path

import pytest
from sessions import Play

from harness.command import guarded
from lessons.__main__ import app, progress_words
from lessons.engine.catalogue import Entry, entries
from lessons.engine.progress import Progress, Standings


def test_every_lesson_is_found_with_its_title_and_minutes() -> None:
    found = {entry.name: entry for entry in entries()}
    assert found["04_autorange"].title == "How many calls make one sample?"
    assert all(entry.minutes > 0 for entry in found.values())


def test_lessons_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("10_b", "02_a"):
        (tmp_path / f"{name}.py").write_text("lesson = Lesson(__file__, title='A', objective='B', minutes=3)\n")
    (tmp_path / "other.py").write_text("")
    assert entries(tmp_path) == (Entry("02_a", "A", 3), Entry("10_b", "A", 3))


def test_a_file_that_is_named_like_a_lesson_and_has_none_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "02_a.py").write_text("lesson = 3\n")
    with pytest.raises(ValueError, match="has none"):
        entries(tmp_path)


def test_the_list_shows_progress_and_what_comes_next(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(app, "python -m lessons", []) == 0
    out = capsys.readouterr().out
    assert "04_autorange" in out
    assert "not yet taken" in out
    assert "Next:  python -m lessons." in out


def test_the_list_tells_of_a_damaged_progress_file(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state.mkdir()
    (state / "progress.json").write_text("{")
    assert guarded(app, "python -m lessons", []) == 0
    assert "set aside" in capsys.readouterr().out


def test_progress_is_told_in_a_few_words(prepare: Play) -> None:
    played = prepare()
    played.session.play()
    Progress().keep(played.session.record())
    assert "2/2 held" in progress_words(Progress().load()["small_lesson"])
    left = Standings(last_run_utc="2026-01-02T03:04:05+00:00", complete=False, steps_done=3)
    assert progress_words(left).startswith("left")
    assert progress_words(left).endswith("after step 3")


def test_a_filled_notebook_is_named_and_all_others_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(app, "python -m lessons", ["notebooks", str(tmp_path)]) == 0
    filled, gone = tmp_path / "lesson_04_autorange.ipynb", tmp_path / "lesson_13_bytecode.ipynb"
    filled.write_text(work := filled.read_text().replace('answer=\\"\\"', 'answer=\\"b\\"'))
    gone.unlink()
    capsys.readouterr()
    assert guarded(app, "python -m lessons", ["notebooks", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert f"Wrote {gone}." in said.out
    assert f"You have edited {filled}," in said.err
    assert "--force" in said.err
    assert filled.read_text() == work
    assert guarded(app, "python -m lessons", ["notebooks", str(tmp_path), "--force"]) == 0
    assert filled.read_text() != work


def test_a_wrong_argument_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(app, "python -m lessons", ["99_none"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
