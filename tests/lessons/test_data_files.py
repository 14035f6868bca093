"""The data files of the lessons: glossary, recall questions and recorded runs. Each test lists all that is wrong.

If a test of a recorded run fails after a change in a lesson, record the lesson again: `python -m lessons.NN --record`.
"""

import importlib
import re
import tomllib
from collections.abc import Iterator
from datetime import date
from functools import cache

from sessions import ROOT

from harness.glossary import parse
from lessons.engine import recall
from lessons.engine.catalogue import FOLDER, lesson_names
from lessons.engine.explain import Explained
from lessons.engine.glossary import FILE
from lessons.engine.interval import ClaimStanding
from lessons.engine.lesson import Lesson
from lessons.engine.recorded_run import FILE as RUN
from lessons.engine.recorded_run import RecordedRun, RecordedStep

RECORDED = FOLDER / "recorded"
MOST_BYTES = 1_000_000
MOST_BYTES_TOGETHER = 3_000_000
MOST_UNDECIDED = 2
"""The number of claims of a lesson that its record may leave undecided. A student then sees no recorded result."""

A_PATH = re.compile(r"(?<![\w.…])/(home|root|tmp|work|usr|Users)/")


@cache
def lessons() -> dict[str, Lesson]:
    return {name: importlib.import_module(f"lessons.{name}").lesson for name in lesson_names()}


def recorded_steps() -> Iterator[tuple[str, RecordedStep, Explained]]:
    """Yield "LESSON.STEP", the record of each recorded step, and what it shows."""
    for name, lesson in lessons().items():
        run = RecordedRun.load(lesson.recorded)
        for step in lesson.steps:
            if step.name in run.steps:
                yield f"{name}.{step.name}", run.steps[step.name], run.explained(step.document)


def test_each_data_file_is_part_of_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packed = {path for each in project["tool"]["setuptools"]["package-data"]["lessons"] for path in FOLDER.glob(each)}
    files = {path for path in FOLDER.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    modules = {path for path in files if path.suffix in {".py", ".md", ".typed"}}
    assert files - modules - packed == set()
    assert set(FOLDER.glob("exercises/*.py")) <= packed


def test_the_glossary_is_sorted_and_each_lesson_uses_its_terms() -> None:
    glossary = parse(FILE.read_text(encoding="utf-8"))
    names = [term.name.casefold().replace("-", " ") for term in glossary.terms]
    assert names == sorted(names)
    texts = {
        name: "\n".join(file.read_text(encoding="utf-8") for file in FOLDER.glob(f"{name}.*"))
        for name in lesson_names()
    }
    used = {name: glossary.used_in(text) for name, text in texts.items()}
    assert [term.name for term in glossary.terms if term.lesson and term not in used[term.lesson]] == []
    assert [
        term.name for term in glossary.terms if len(re.split(r"[.?!]\s", term.meaning)) > 3 or term.meaning[-1] != "."
    ] == []


def test_each_lesson_has_three_recall_questions_about_three_parts_of_its_key_points() -> None:
    """If a key point changes, this test fails, so that its author also checks the question."""
    questions = recall.load()
    assert list(questions) == list(lesson_names())
    for name, some in questions.items():
        assert len({each.key_point for each in some}) == len(some) == 3, name
        assert {len(set(each.choice.options.values())) for each in some} == {3}, name
        points = lessons()[name].document.key_points
        gone = [each.key_point for each in some if not any(each.key_point in point for point in points)]
        assert gone == [], name
        assert len({each.answer for each in some}) >= 2, f"{name}: the right answers follow a pattern"


def test_each_record_is_of_a_present_step() -> None:
    """That each step has a record with its figures is tested with the documents."""
    recorded = {name: set(RecordedRun.load(lesson.recorded).steps) for name, lesson in lessons().items()}
    steps = {name: {step.name for step in lesson.steps} for name, lesson in lessons().items()}
    assert {name: gone for name in steps if (gone := recorded[name] - steps[name])} == {}


def test_a_record_names_its_machine_decides_its_claims_and_refutes_none() -> None:
    wrong = []
    undecided = dict.fromkeys(lesson_names(), 0)
    for name, step, shown in recorded_steps():
        made_on = step.made_on
        dated = date.fromisoformat(made_on.date) >= date(2026, 11, 1) and made_on.cpu and made_on.cores >= 1
        if not dated or not re.match(r"3\.\d+\.\d+", made_on.python) or not re.match(r"2\.\d+", made_on.torch):
            wrong.append(name)
        wrong += [each.id for each in shown.claims if each.standing in {ClaimStanding.REFUTED, ClaimStanding.SKIPPED}]
        undecided[name.partition(".")[0]] += sum(each.standing == ClaimStanding.INCONCLUSIVE for each in shown.claims)
    assert wrong == []
    assert {name: count for name, count in undecided.items() if count > MOST_UNDECIDED} == {}


def test_records_are_small_and_name_no_path() -> None:
    sizes = {path: path.stat().st_size for path in RECORDED.rglob("*") if path.is_file()}
    assert [path for path, size in sizes.items() if size >= MOST_BYTES] == []
    assert sum(sizes.values()) < MOST_BYTES_TOGETHER
    texts = [path for path in sizes if path.suffix in {".svg", ".jsonl"} or path.name == RUN]
    assert [path for path in texts if A_PATH.search(path.read_text(encoding="utf-8"))] == []
