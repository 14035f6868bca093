"""A lesson of two steps that does not use torch, for tests of the engine. Its words are in `small_lesson.md`."""

import math

from lessons.engine.api import Figures, Interval, Run, Samples, load
from lessons.engine.catalogue import LessonEntry
from lessons.engine.command import main


def double(number: float) -> float:
    """Say something that is not shown."""
    return 2 * number


def twice(number: float = 1.0) -> float:
    return double(number)


def twice_figures(result: float) -> Figures:
    return {
        "result": result,
        "more": "a" if result > 1 else "b",
        "samples": Samples([1e-6, 2e-6, 2e-6]),
    }


def four_times() -> float:
    return math.sqrt(4.0) * double(2.0)


def four_times_figures(result: float, run: Run) -> Figures:
    return {"result": result, "root": Interval.exact(result / 4).widened(run.noise)}


lesson = load(__name__)
vars(lesson)["entry"] = LessonEntry("small_lesson", "How small is *small*?", step_minutes=(2, 1))

if __name__ == "__main__":
    main(lesson)
