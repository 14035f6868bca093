import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sessions import ROOT, Play

from harness.command_line.command import guarded
from harness.storage.user_state import FOLDER_VARIABLE
from lessons import __main__ as main
from lessons.__main__ import app
from lessons.engine import exercise_points, route
from lessons.engine.catalogue import Entry
from lessons.engine.listing import claims_words, progress_words
from lessons.engine.progress import LessonProgress, ProgressFile
from lessons.engine.route import SHORT, lessons_of


def test_the_list_shows_predictions_and_points_with_a_heading_and_totals(
    state: Path, prepare: Play, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {
        "small_lesson": Entry("small_lesson", "How *small*?", step_minutes=(2, 1), exercise_minutes=20),
        "02_other": Entry("02_other", "B", ("small_lesson",), step_minutes=(6,)),
    }
    monkeypatch.setattr(main, "entry_of", found.get)
    monkeypatch.setattr(route, "listed", lambda: found)
    played = prepare(typed=["b", "8"])
    played.session.play()
    ProgressFile().save(played.session.record())
    saved = {"small_lesson": {"points": 4, "possible": 10}, "02_other": {"points": 2.5, "possible": 5}}
    (state / "exercise_points.json").write_text(json.dumps({"format": 1, "lessons": saved}))
    assert guarded(app, "python -m lessons", []) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["Lesson", "After", "Minutes", "Progress", "Claims", "Predicted", "Points"]
    assert re.search(r"small_lesson +5 \+ 20 +done +2/2 +1/2 +4/10", lines[1])
    assert lines[2].strip() == "How small?"
    assert re.search(r"02_other +small +10 +new +2.5/5", lines[3])
    assert re.search(r"Total +15 \+ 20 +1/2 done +1/2 +6.5/15", lines[5])


@pytest.mark.parametrize(("width", "path"), [(80, "full"), (200, "short")])
def test_the_list_fits_the_terminal(
    width: int, path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert guarded(app, "python -m lessons", ["--path", path]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    assert any(line.startswith("04_autorange") for line in lines)


def test_a_chosen_path_is_kept_and_the_list_follows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(app, "python -m lessons", ["--path", "short"]) == 0
    assert guarded(app, "python -m lessons", []) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = [line.split()[0] for line in lines if re.match(r"\d\d_", line)]
    assert listed == 2 * list(lessons_of(SHORT))
    assert "Path:  short. For all 19 lessons: python -m lessons --path full" in lines
    assert guarded(app, "python -m lessons", ["--path", "full"]) == 0
    out = capsys.readouterr().out
    assert "Path:  full. For a short path (02, 04, 09, 05): python -m lessons --path short" in out
    assert out.index("\n02_timeit_vs_timer") < out.index("\n01_correct_first")
    assert out.index("\n13_bytecode") < out.index("\n12_jit_fusion")


def test_an_unknown_path_is_one_sentence_with_the_right_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(app, "python -m lessons", ["--path", "shrot"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "python -m lessons --path short" in said.err


def test_the_commands_lessons_and_fairclock_lessons_choose_the_same_path(state: Path) -> None:
    command = [sys.executable, "-m", "grader.fairclock", "lessons", "--path", "short"]
    environment = {**os.environ, FOLDER_VARIABLE: str(state)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=True)
    assert "Path:  short." in done.stdout
    assert route.chosen(state) == "short"


def test_only_a_new_student_reads_how_far_ten_minutes_go(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(app, "python -m lessons", []) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert " new " in out
    assert "python -m lessons glossary [TERM]" in out
    assert re.search(r"Start: the first \d steps of 02_timeit_vs_timer take about 10 minutes\.", out)
    complete(state, "02_timeit_vs_timer")
    assert guarded(app, "python -m lessons", []) == 0
    out = capsys.readouterr().out
    assert "Start:" not in out
    assert "Next:  python -m lessons.01_correct_first\n" in out


def test_after_the_short_path_the_list_offers_the_full_path(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    complete(state, *lessons_of(SHORT))
    assert guarded(app, "python -m lessons", ["--path", "short"]) == 0
    assert "Next:  python -m lessons --path full\n" in capsys.readouterr().out


def complete(state: Path, *lessons: str) -> None:
    """Write a progress file of a student who has completed these lessons."""
    row = {
        "last_run_utc": "2026-01-02T03:04:05+00:00",
        "complete": True,
        "steps_done": 1,
        "claims": {},
        "predictions": {},
        "durations_s": {},
    }
    state.mkdir(exist_ok=True)
    text = json.dumps({"format": 1, "lessons": dict.fromkeys(lessons, row)})
    (state / "progress.json").write_text(text, encoding="utf-8")


def test_exercise_points_that_cannot_be_read_are_left_out(state: Path) -> None:
    state.mkdir()
    for content in ("", "{", "[]", '{"format": 2, "lessons": {}}', '{"format": 1, "lessons": {"a": 3}}'):
        (state / "exercise_points.json").write_text(content)
        assert exercise_points.load() == {}, content


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
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "lesson_names", lambda: ("04_autorange", "07_fuzzing", "13_bytecode"))
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
