"""The recorded runs in `lessons/recorded` are complete, small, and fit the present lessons.

If one of these tests fails after a change in a lesson, record the lesson again: `python -m lessons.NN --record`.
"""

import importlib
import re
from datetime import date
from pathlib import Path

import pytest
from sessions import ROOT

from lessons.engine.catalogue import entries
from lessons.engine.lesson import Lesson
from lessons.engine.recorded_run import FILE, RecordedRun
from lessons.engine.standing import Standing

NAMES = [entry.name for entry in entries()]
FOLDER = ROOT / "lessons" / "recorded"
MOST_BYTES = 1_000_000
MOST_BYTES_TOGETHER = 3_000_000
MOST_UNDECIDED = 2
"""The number of claims of a lesson that its record may leave undecided. A student then sees no recorded result."""

SKIPS = re.compile(r"\bpage\.skip(_step)?\(")
A_PATH = re.compile(r"(?<![\w.…])/(home|root|tmp|work|usr|Users)/")

NOT_RECORDED = {
    "12_jit_fusion.other_ways_to_run": "the step needs Cython and PyPy, and contains recorded times of its own",
}
"""Lessons and steps that no machine has recorded, with the reason."""

SKIPPED_CLAIMS: dict[str, str] = {}
"""Claims that the recording machine skipped, by the claim's id, with the reason."""


def lesson_of(name: str) -> Lesson:
    whole = importlib.import_module(f"lessons.{name}").lesson
    assert isinstance(whole, Lesson)
    return whole


def recorded_lessons() -> list[str]:
    """Return the names of all lessons with a recorded run."""
    return [name for name in NAMES if (FOLDER / name / FILE).is_file()]


@pytest.mark.parametrize("name", NAMES)
def test_each_step_of_a_lesson_that_can_skip_a_claim_is_recorded(name: str) -> None:
    lesson = lesson_of(name)
    recorded = RecordedRun.load(lesson.recorded).steps
    missing = [step.name for step in lesson.steps if step.name not in recorded]
    unexplained = [step for step in missing if name not in NOT_RECORDED and f"{name}.{step}" not in NOT_RECORDED]
    if SKIPS.search(Path(lesson.file).read_text(encoding="utf-8")) or recorded:
        assert unexplained == [], f"run `python -m lessons.{name} --record`"


@pytest.mark.parametrize("name", recorded_lessons())
def test_recorded_steps_and_claims_are_those_of_the_lesson(name: str) -> None:
    lesson = lesson_of(name)
    now = {step.name: set(step.claims) for step in lesson.steps}
    for step, recorded in RecordedRun.load(lesson.recorded).steps.items():
        assert set(recorded.claims) == now.get(step), f"{step}: run `python -m lessons.{name} --record`"


@pytest.mark.parametrize("name", recorded_lessons())
def test_a_question_that_a_function_makes_is_recorded_as_it_was_asked(name: str) -> None:
    made = {step.name: callable(step.predict) for step in lesson_of(name).steps}
    for step, recorded in RecordedRun.load(FOLDER / name).steps.items():
        assert bool(recorded.question) == made[step], f"{step}: run `python -m lessons.{name} --record`"
        assert "…" not in recorded.question


@pytest.mark.parametrize("name", recorded_lessons())
def test_each_recorded_step_names_its_machine_its_date_and_its_versions(name: str) -> None:
    for step in RecordedRun.load(FOLDER / name).steps.values():
        made_on = step.made_on
        assert made_on.cpu
        assert made_on.cores >= 1
        assert date.fromisoformat(made_on.date) >= date(2026, 11, 1)
        assert re.match(r"3\.\d+\.\d+", made_on.python)
        assert re.match(r"2\.\d+", made_on.torch)


@pytest.mark.parametrize("name", recorded_lessons())
def test_a_record_confirms_its_claims_or_names_the_reason(name: str) -> None:
    for step in RecordedRun.load(FOLDER / name).steps.values():
        for claim in step.claims.values():
            assert claim.standing != Standing.REFUTED, claim
            assert claim.standing != Standing.SKIPPED or claim.id in SKIPPED_CLAIMS, claim


@pytest.mark.parametrize("name", recorded_lessons())
def test_a_record_decides_nearly_all_claims(name: str) -> None:
    claims = [claim for step in RecordedRun.load(FOLDER / name).steps.values() for claim in step.claims.values()]
    undecided = [claim.id for claim in claims if claim.standing == Standing.INCONCLUSIVE]
    assert len(undecided) <= MOST_UNDECIDED, "run the lesson with --record again while no other program runs"


@pytest.mark.parametrize("name", recorded_lessons())
def test_a_record_names_no_path_of_its_machine(name: str) -> None:
    assert not A_PATH.search((FOLDER / name / FILE).read_text(encoding="utf-8"))


def test_a_reason_is_given_only_for_what_is_not_recorded() -> None:
    recorded = {name: RecordedRun.load(FOLDER / name).steps for name in NAMES}
    for missing in NOT_RECORDED:
        lesson, _, step = missing.partition(".")
        assert lesson in NAMES
        assert not recorded[lesson] if not step else step not in recorded[lesson]
    claims = {claim.id: claim for run in recorded.values() for step in run.values() for claim in step.claims.values()}
    assert [id_ for id_ in SKIPPED_CLAIMS if claims[id_].standing != Standing.SKIPPED] == []


def test_each_record_is_small_and_all_together_too() -> None:
    sizes = {path: path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()}
    assert [path for path, size in sizes.items() if size >= MOST_BYTES] == []
    assert sum(sizes.values()) < MOST_BYTES_TOGETHER


def test_each_recorded_drawing_belongs_to_a_recorded_step_and_names_no_path() -> None:
    for path in FOLDER.glob("*/*.svg"):
        assert path.stem.split("-")[0] in RecordedRun.load(path.parent).steps, path
        assert not A_PATH.search(path.read_text(encoding="utf-8")), path
