"""A lesson of two steps and no torch, for tests of the engine."""

import math
import textwrap

from lessons.engine import Choice, Guess, Lesson, Page

lesson = Lesson(__file__, title="How small is small?", objective="Afterwards you know.", minutes=1)


@lesson.given
def double(number: float) -> float:
    """Say something that is not shown."""
    return 2 * number


def how_much(page: Page) -> Guess:
    return Guess(f"And four times {page.result(twice):g}?", "units")


@lesson.step(
    "Twice",
    predict=Choice("Is `twice` more than once?", {"a": "yes", "b": "no"}),
    claims={"twice-is-two": "twice one is two"},
    fast={"number": 0.5},
)
def twice(number: float = 1.0) -> float:
    """Double a number.

    That is all there
    is to it.
    """
    return double(number)


@twice.observe
def explain_twice(page: Page, result: float) -> None:
    page.reveal("a", "It always is.")
    page.histogram([1e-6, 2e-6, 2e-6], name="samples", caption="three samples")
    page.claim("twice-is-two", result, 2, 2)


@lesson.step("Four times", predict=how_much, claims={"root": "the square root of four is two"})
def four_times() -> float:
    """Take a root, too."""
    return math.sqrt(4.0) * double(2.0)


@four_times.observe
def explain_four(page: Page, result: float) -> None:
    page.reveal(result)
    page.claim("root", result / 4, 2, 2, noise=page.noise)
    page.say(textwrap.dedent("That was `four_times`."))


lesson.take_along("one", "two", "three")
lesson.read_on("a book")

if __name__ == "__main__":
    lesson.main()
