"""Each explanation has a text for each result of its claims, and prints only the text of the actual result."""

from importlib import import_module

import pytest
import small_lesson
from forced import explanations
from sessions import Play

from lessons.engine.catalogue import entries
from lessons.engine.lesson import Lesson
from lessons.engine.page import Page

QUICK = ("01", "02", "04", "07", "09", "18")
"""Lessons whose steps take less than ten seconds together."""

NAMES = [
    pytest.param(entry.name, marks=() if entry.name.startswith(QUICK) else pytest.mark.long) for entry in entries()
]


def check(prepare: Play, lesson: Lesson) -> None:
    played = prepare(lesson, fast=True, noise=0.05, width=100)
    for step in lesson.steps:
        if step.needs:
            played.session.results[step.needs.name]
        result = step(fast=True)
        played.session.results[step.name] = result
        for explained in explanations(played, step, result):
            assert explained.wrong_words() == [], f"{step.name}, {explained.result}"


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_has_words_for_each_result_of_each_claim(name: str, prepare: Play) -> None:
    check(prepare, import_module(f"lessons.{name}").lesson)


def test_the_check_finds_words_of_another_result(prepare: Play) -> None:
    check(prepare, small_lesson.lesson)
    lesson = Lesson(__file__, title="Wrong", objective="None.")
    step = lesson.step("One")(one)
    claim = step.claim("one", "one is one", equals=1)

    @step.explain
    def _(page: Page, result: int) -> None:
        page.settle(claim, result)
        page.say(claim.words(held="It is one.", refuted="It is not one.", unclear="The result is unknown."))
        page.say("It is not one.")

    with pytest.raises(AssertionError, match="It is not one"):
        check(prepare, lesson)


def one() -> int:
    return 1
