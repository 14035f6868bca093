import json
import re
from pathlib import Path

import pytest
from sessions import Play

from harness.command_line.command import guarded
from lessons import __main__ as main
from lessons.__main__ import app
from lessons.engine import exercise_points
from lessons.engine.catalogue import Entry, entries
from lessons.engine.listing import claims_words, progress_words
from lessons.engine.progress import LessonProgress, ProgressFile


def test_every_lesson_is_found_with_its_title_and_minutes() -> None:
    found = {entry.name: entry for entry in entries()}
    assert found["04_autorange"].title == "How many calls make one sample?"
    assert all(entry.minutes > 0 for entry in found.values())


def test_lessons_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("10_b", "02_a"):
        (tmp_path / f"{name}.py").write_text("lesson = Lesson(__file__, title='A', objective='B', minutes=3)\n")
    (tmp_path / "other.py").write_text("")
    assert entries(tmp_path) == (Entry("02_a", "A", 3), Entry("10_b", "A", 3))


def test_a_file_with_the_name_of_a_lesson_must_have_a_lesson(tmp_path: Path) -> None:
    (tmp_path / "02_a.py").write_text("lesson = 3\n")
    with pytest.raises(ValueError, match="never calls Lesson"):
        entries(tmp_path)


def test_the_list_shows_progress_and_the_next_lesson(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(app, "python -m lessons", []) == 0
    out = capsys.readouterr().out
    assert "04_autorange" in out
    assert " new " in out
    assert "Next:  python -m lessons." in out


def test_the_list_shows_predictions_and_points_with_a_heading_and_totals(
    state: Path, prepare: Play, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(main, "entries", lambda: (Entry("small_lesson", "How *small*?", 3), Entry("02_other", "B", 4)))
    played = prepare(typed=["b", "8"])
    played.session.play()
    ProgressFile().save(played.session.record())
    saved = {"small_lesson": {"points": 4, "possible": 10}, "02_other": {"points": 2.5, "possible": 5}}
    (state / "exercise_points.json").write_text(json.dumps({"format": 1, "lessons": saved}))
    assert guarded(app, "python -m lessons", []) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["Lesson", "Title", "Min.", "Progress", "Claims", "Predicted", "Points"]
    assert re.search(r"small_lesson +How small\? +3 +done +2/2 +1/2 +4/10", lines[1])
    assert re.search(r"02_other +B +4 +new +2.5/5", lines[2])
    assert re.search(r"Total +7 +1/2 done +1/2 +6.5/15", lines[3])


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"format": 2, "lessons": {}}', '{"format": 1, "lessons": {"a": 3}}']
)
def test_exercise_points_that_cannot_be_read_are_left_out(state: Path, content: str) -> None:
    state.mkdir()
    (state / "exercise_points.json").write_text(content)
    assert exercise_points.load() == {}


def test_the_list_reports_a_damaged_progress_file(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state.mkdir()
    (state / "progress.json").write_text("{")
    assert guarded(app, "python -m lessons", []) == 0
    assert "was damaged" in capsys.readouterr().out


def test_progress_is_described_in_a_few_words(prepare: Play) -> None:
    played = prepare()
    played.session.play()
    ProgressFile().save(played.session.record())
    progress = ProgressFile().load()["small_lesson"]
    assert progress_words(progress) == "done"
    assert claims_words(progress) == "2/2"
    left = LessonProgress(last_run_utc="2026-01-02T03:04:05+00:00", complete=False, steps_done=3)
    assert progress_words(left) == "after step 3"
    assert progress_words(None) == "new"


def test_an_edited_notebook_is_reported_and_all_others_are_written(
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
    assert f"because you have edited these files: {filled}." in said.err
    assert "--force" in said.err
    assert filled.read_text() == work
    assert guarded(app, "python -m lessons", ["notebooks", str(tmp_path), "--force"]) == 0
    assert filled.read_text() != work


def test_a_wrong_argument_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(app, "python -m lessons", ["99_none"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
