"""The teacher's pack of this kit, written once per test session, and small lessons for tests of its parts."""

from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import small_lesson
from once import once

from harness.glossary import Term
from lessons.engine.document import RecallBlock
from lessons.engine.figures import Samples
from lessons.engine.predict import Choice
from lessons.guide import contents, results
from lessons.guide import pages as pack
from lessons.guide.contents import LessonPage
from lessons.guide.results import LessonResults
from lessons.guide.task_texts import TaskTexts, WrongAnswer

RESULTS = LessonResults(
    machine="a machine",
    date="2026-11-23",
    figures={"twice": {"result": 2.0, "more": "a", "samples": Samples([1e-6, 2e-6, 2e-6])}},
)
"""Results of the small lesson."""


def written(factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the pack, with the recorded results."""
    return once(factory, "teachers-pack", _write)


def _write(folder: Path) -> None:
    pack.write(folder, results_folder=None, run=False, seed=1, force=True, report=lambda _what: None)


@cache
def pages() -> dict[str, LessonPage]:
    """Return the pages of all lessons, with the recorded results."""
    return contents.load_all(results.recorded())


def task() -> TaskTexts:
    """Return a task with four known wrong answers."""
    answers = [WrongAnswer(f"wrong_{n}", f"Explanation {n}.", f"def f():\n    return {n} < 3") for n in range(4)]
    return TaskTexts(
        lesson="small_lesson",
        name="double",
        summary="Return twice a number",
        points=10.0,
        points_if_right=4.0,
        cost="calls",
        thresholds=({"ratio": 2.0, "points": 10.0},),
        hints=("first", "second", "third"),
        read="lesson 04, “Twice”",
        idea="Add the number to itself.",
        references="",
        wrong_answers=tuple(answers),
    )


def terms() -> list[Term]:
    """Return five terms. The meaning of "clock" contains its name, and "tick" and "step" are related."""
    return [
        Term("clock", "A clock measures time.", lesson="small_lesson"),
        Term("tick", "The smallest change between two readings.", lesson="small_lesson", see=("step",)),
        Term("step", "The distance of two values.", lesson="small_lesson"),
        Term("sample", "One measured value.", lesson="small_lesson"),
        Term("block", "Calls that are timed together.", lesson="small_lesson"),
        Term("A/A test", "A comparison of code with itself.", lesson="small_lesson"),
    ]


def small_page(found: LessonResults | None = RESULTS) -> LessonPage:
    """Return the page of the small lesson."""
    recall = RecallBlock(Choice("What is `2 * 1`?", {"a": "one", "b": "two"}), "b", "It always is.", "one")
    return contents.page_of(small_lesson.lesson, [task()], [recall], terms(), found)


def parsed(text: str) -> ET.Element:
    """Return the root element of an XML text that this kit wrote."""
    return ET.fromstring(text)  # noqa: S314 - the kit wrote it
