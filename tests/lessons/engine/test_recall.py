"""Recall questions: the file of this kit, the screen and the notebook."""

import io
from pathlib import Path

import pytest
import small_lesson
from rich.console import Console

from harness.command_line.command import guarded
from lessons import __main__ as main
from lessons.__main__ import app
from lessons.engine import notebook, recall, route
from lessons.engine.progress import LessonProgress
from lessons.engine.recall import as_markdown
from lessons.engine.screen import Screen

QUESTIONS = recall.load()
DONE = LessonProgress("2026-01-02T03:04:05+00:00", complete=True, steps_done=1)


@pytest.mark.parametrize("right", [0, 4])
def test_a_right_answer_that_is_not_an_option_is_an_error(tmp_path: Path, right: int) -> None:
    file = tmp_path / "recall.toml"
    file.write_text(
        f'[[a]]\nquestion = "q"\noptions = ["x", "y", "z"]\nright = {right}\nbecause = "b."\nkey_point = "k"\n'
    )
    with pytest.raises(ValueError, match="not in range"):
        recall.load(file)


def test_the_questions_are_about_the_last_complete_lesson_of_the_chosen_path() -> None:
    done = {"02_timeit_vs_timer": DONE, "08_callgrind": DONE, "04_autorange": DONE}
    assert recall.about_last_lesson("09_cprofile", done) == ("08_callgrind", QUESTIONS["08_callgrind"])
    route.choose("short")
    assert recall.about_last_lesson("09_cprofile", done) == ("04_autorange", QUESTIONS["04_autorange"])
    assert recall.about_last_lesson("02_timeit_vs_timer", done) == ("", ())
    started = {"02_timeit_vs_timer": LessonProgress(DONE.last_run_utc, complete=False, steps_done=2)}
    assert recall.about_last_lesson("04_autorange", started) == ("", ())


def test_a_wrong_answer_shows_the_right_one(monkeypatch: pytest.MonkeyPatch) -> None:
    out, lines = io.StringIO(), iter(["c", "what?", "c", ""])
    screen = Screen(Console(file=out, width=80))
    monkeypatch.setattr(screen, "read", lambda: next(lines))
    recall.play("02_timeit_vs_timer", QUESTIONS["02_timeit_vs_timer"], screen)
    text = " ".join(out.getvalue().split())
    assert "Your answer: the shortest time. The right answer: the time of all calls. Divide its result" in text
    assert "This is not one of the answers. Type a, b or c." in text
    assert "Your answer: the shortest run. That is right. A disturbance only adds time" in text
    assert "Answer They sort a list that is already sorted. The first call sorts the list" in text
    assert "Recall 3 of 3" in text
    assert max(map(len, out.getvalue().splitlines())) <= 80


def test_a_notebook_has_the_questions_and_then_their_answers() -> None:
    text = as_markdown("02_timeit_vs_timer", QUESTIONS["02_timeit_vs_timer"])
    asked, _, answers = text.partition("<details>")
    for number, each in enumerate(QUESTIONS["02_timeit_vs_timer"], start=1):
        assert f"{number}. {each.choice.question}" in asked
        assert all(f"   - {letter}: {option}\n" in asked for letter, option in each.choice.options.items())
        assert each.because not in asked
        assert f"{number}. {each.answer}: {each.choice.options[each.answer]}. {each.because}\n" in answers


def test_only_notebooks_of_lessons_with_a_previous_lesson_have_recall_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert b"recall-words" not in notebook.notebook_bytes(small_lesson.lesson, fast=True)
    monkeypatch.setattr(main, "lesson_names", lambda: ("01_correct_first", "02_timeit_vs_timer", "12_jit_fusion"))
    assert guarded(app, "python -m lessons", ["notebooks", str(tmp_path)]) == 0
    found = {path.stem.removeprefix("lesson_"): path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert [name for name, text in sorted(found.items()) if "recall-words" not in text] == ["02_timeit_vs_timer"]
    assert "Questions about lesson 02_timeit_vs_timer" in found["01_correct_first"]
    assert "Questions about lesson 13_bytecode" in found["12_jit_fusion"]
