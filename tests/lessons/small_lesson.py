"""A lesson of two steps that does not use torch, for tests of the engine."""

import math
import textwrap

from lessons.engine import Choice, Guess, Interval, Lesson, Page
from lessons.engine.catalogue import LessonEntry
from lessons.engine.command import main

lesson = Lesson(__file__, objective="You know it.")
lesson.entry = LessonEntry("small_lesson", "How small is *small*?", step_minutes=(2, 1))


@lesson.given
def double(number: float) -> float:
    """Say something that is not shown."""
    return 2 * number


def how_much(page: Page) -> Guess:
    return Guess(f"And four times {page.result(twice):g}?", "units")


@lesson.step(
    "Twice",
    predict=Choice("Is `twice` more than once?", {"a": "yes", "b": "no"}),
    expected="a",
    fast={"number": 0.5},
)
def twice(number: float = 1.0) -> float:
    """Double a number.

    That is all there
    is to it.
    """
    return double(number)


TWO = twice.claim("twice-is-two", "twice one is two", equals=2)


@twice.explain
def _(page: Page, result: float) -> None:
    page.settle(TWO, result)
    page.reveal(TWO.answer(held="a", refuted="b"), TWO.words(held="It always is.", refuted="", unclear=""))
    page.histogram([1e-6, 2e-6, 2e-6], name="samples", caption="three *samples*")
    page.say(TWO.words(held="It is two.", refuted="It is not two.", unclear="Two or not: unclear."))


@lesson.step("Four times", predict=how_much, expected="8 units", depends_on="the first step")
def four_times() -> float:
    """Take a root, too."""
    return math.sqrt(4.0) * double(2.0)


ROOT = four_times.claim("root", "the square root of four is two", equals=2)


@four_times.explain
def _(page: Page, result: float) -> None:
    page.reveal(result)
    page.settle(ROOT, Interval.exact(result / 4).widened(page.noise))
    page.say(textwrap.dedent("That was `four_times`."))


lesson.key_points = ("one", "two", "three")
lesson.references = ("a book",)

if __name__ == "__main__":
    main(lesson)
