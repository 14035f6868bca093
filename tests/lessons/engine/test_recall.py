"""Recall questions: the file of this kit, the screen and the notebook."""

import importlib
import io

import pytest
from rich.console import Console

from lessons.engine import notebook, recall, route
from lessons.engine.progress import LessonProgress
from lessons.engine.recall import as_markdown
from lessons.engine.screen import Screen

QUESTIONS = recall.load()
DONE = LessonProgress("2026-01-02T03:04:05+00:00", complete=True, steps_done=1)


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


def test_a_notebook_has_the_questions_about_the_lesson_before_it_and_then_their_answers() -> None:
    assert recall.about_lesson_before("02_timeit_vs_timer") == ("", ())
    assert recall.about_lesson_before("12_jit_fusion")[0] == "13_bytecode"
    written = notebook.notebook_bytes(importlib.import_module("lessons.01_correct_first").lesson, fast=True)
    assert b"Questions about lesson 02_timeit_vs_timer" in written
    text = as_markdown("02_timeit_vs_timer", QUESTIONS["02_timeit_vs_timer"])
    asked, _, answers = text.partition("<details>")
    for number, each in enumerate(QUESTIONS["02_timeit_vs_timer"], start=1):
        assert f"{number}. {each.choice.question}" in asked
        assert all(f"   - {letter}: {option}\n" in asked for letter, option in each.choice.options.items())
        assert each.because not in asked
        assert f"{number}. {each.answer}: {each.choice.options[each.answer]}. {each.because}\n" in answers
