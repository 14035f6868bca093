"""Recorded runs: what they keep, and when a lesson shows them."""

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sessions import Play, lesson_from

from harness.errors import MachineError, UsageError
from lessons.engine.figures import Drawing, Figures, Lacking, Rows, Samples, from_json
from lessons.engine.figures import as_json as kept
from lessons.engine.interval import Interval
from lessons.engine.lesson import Lesson
from lessons.engine.recorded_run import FILE, RecordedOn, RecordedRun, RecordedStep
from lessons.engine.recording import record

MACHINE = RecordedOn("2026-11-23", "AMD EPYC", 2, "", "3.11.7", "2.13.0+cpu")
FIGURES: Figures = {
    "fast": 3.0,
    "small": Interval(1.0, 0.9, 1.1),
    "counts": Rows([("apples", 1.5e-6), ("pears", 2e-5)]),
    "bars": "███ 3\n█ 1",
    "sure": "a",
}
CODE = """
RESULT = {}

def count():
    return RESULT

def count_figures(result):
    return result
"""
WORDS = """---
objective: None.
---

## A count {#count}

:::{run}
:::

:::{question} sure
:choices:
  - yes
  - no
:expected: a
Yes?
:::

A counter counts `one`.

:::{table} counts
:columns:
  - what
  - how many | seconds
Counts
:::

:::{output} bars
Bars
:::

:::{claim} fast
:holds: fast >= 2
:unit: ratio
:held: It runs.
it is *fast*
:::

:::{claim} small
:holds: small <= 1
it is small
:::

## Key points

- one

## References

- a book
"""
LACKING = Lacking("a counter: apt install counter")


@pytest.fixture
def lesson(tmp_path: Path) -> Lesson:
    return lesson_from(tmp_path, "99_test", CODE, WORDS)


def result_of(lesson: Lesson) -> dict[str, Any]:
    found = sys.modules["99_test"].RESULT
    assert isinstance(found, dict)
    assert lesson.name == "99_test"
    return found


def shown(prepare: Play, lesson: Lesson, **changed: object) -> str:
    """Return what is printed if this run has the recorded figures with these changes."""
    result_of(lesson).update({**FIGURES, **changed})
    played = prepare(lesson, width=80)
    played.session.play()
    return played.out.getvalue().partition("Key points")[0]


def test_figures_are_the_same_after_they_were_written_and_read() -> None:
    for figure in (
        True, 3, 2.5, "text", None, float("inf"), Interval(1, 0.5, float("inf"), 0.1), LACKING, Samples((1.0, 2.0)),
        Rows((("a", 1, None, float("inf")),)), Drawing("#", "<svg/>"),
    ):  # fmt: skip
        assert from_json(kept(figure)) == figure
    many = Samples([n / 7 for n in range(5000)])
    thinned = from_json(kept(many))
    assert isinstance(thinned, Samples)
    assert (len(thinned.values), thinned.values[0], thinned.values[-1]) == (200, 0.0, 714.1)


def test_without_a_file_no_step_is_recorded_and_a_damaged_file_is_named(tmp_path: Path) -> None:
    assert RecordedRun.load(tmp_path).steps == {}
    for text in ("{", '{"steps": {"count": {"figures": []}}}', '{"steps": {"count": 1}}'):
        (tmp_path / FILE).write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=r"run\.json cannot be read"):
            RecordedRun.load(tmp_path)


def test_a_skipped_step_shows_its_recorded_explanation(prepare: Play, lesson: Lesson) -> None:
    RecordedRun({"count": RecordedStep(MACHINE, 1.0, FIGURES)}).save(lesson.recorded)
    lines = shown(prepare, lesson, fast=LACKING, small=LACKING).splitlines()
    assert sum(LACKING.reason in line for line in lines) == 1, "two claims lack the same"
    start = next(at for at, line in enumerate(lines) if "Recorded" in line)
    quoted = [line for line in lines[start:] if line.strip()]
    assert all(line.startswith("   │ ") for line in quoted)
    text = " ".join(" ".join(line[5:] for line in quoted).split())
    assert text.startswith(f"Recorded On {MACHINE.describe()}, this step showed: Measured Yes. A counter counts one.")
    assert "███ 3 █ 1" in text
    assert "✓ it is fast: 3×" in text
    assert "? it is small: 0.900 to 1.10," in text
    assert "   │  apples    1.50 µs" in [line.rstrip() for line in lines]
    assert max(map(len, lines)) <= 80


def test_a_recorded_result_is_shown_if_it_decides_more(prepare: Play, lesson: Lesson) -> None:
    RecordedRun({"count": RecordedStep(MACHINE, 1.0, FIGURES)}).save(lesson.recorded)
    for value in (LACKING, Interval(2.0, 1.0, 3.0)):
        text = " ".join(shown(prepare, lesson, fast=value, small=0.5).replace(" │ ", " ").split())
        assert text.endswith(f"Recorded On {MACHINE.describe()}, the result was: ✓ it is fast: 3×")
    for small in (Interval(1.0, 0.5, 2.0), LACKING, 3.0):
        assert "Recorded" not in shown(prepare, lesson, fast=3.0, small=small)
    RecordedRun({"count": RecordedStep(MACHINE, 1.0, {**FIGURES, "fast": LACKING, "small": LACKING})}).save(
        lesson.recorded
    )
    assert "Recorded" not in shown(prepare, lesson, fast=LACKING, small=LACKING)


def test_a_simulated_device_shows_the_figures_of_the_real_device(prepare: Play, tmp_path: Path) -> None:
    lesson = lesson_from(tmp_path, "99_test", f"{CODE}\nload = functools.partial(load, simulated='GPU')".replace(
        "RESULT", "import functools\nRESULT", 1
    ), WORDS)  # fmt: skip
    with pytest.raises(MachineError, match="This machine has no GPU"):
        list(record(lesson, fast=True))
    RecordedRun({"count": RecordedStep(MACHINE, 1.0, FIGURES)}).save(lesson.recorded)
    text = " ".join(shown(prepare, lesson, fast=2.5, small=0.5).split())
    mine, _, recorded = text.partition("this step showed:")
    assert "it is fast: 2.50×" in mine
    assert "✓ it is fast: 3×" in recorded.replace("│ ", "")
    assert "A counter counts" not in recorded


def recorded_step(lesson: Lesson, **changed: object) -> RecordedStep | None:
    """Record a lesson whose step has these figures, and return the record of the step, if there is one."""
    result_of(lesson).update({**FIGURES, **changed})
    list(record(lesson, fast=True, console=Console(file=io.StringIO(), width=80)))
    return RecordedRun.load(lesson.recorded).steps.get("count")


def test_a_record_contains_the_figures_but_no_path_of_the_machine(lesson: Lesson) -> None:
    step = recorded_step(lesson, bars=f"Open {Path.home()}/x.")
    assert step
    assert isinstance(step.figures["bars"], Lacking)
    assert (step.figures["fast"], step.figures["small"]) == (3.0, Interval(1.0, 0.9, 1.1))
    assert step.made_on.python.startswith(f"{sys.version_info[0]}.{sys.version_info[1]}.")


def test_a_step_that_is_skipped_or_decides_fewer_claims_keeps_its_earlier_record(lesson: Lesson) -> None:
    assert recorded_step(lesson, fast=LACKING, small=LACKING) is None
    before = recorded_step(lesson)
    for fast in (LACKING, Interval(2.0, 1.0, 3.0)):
        assert recorded_step(lesson, fast=fast) == before
    assert RecordedRun.load(lesson.recorded).undecided(lesson.document) == ["small"]
    assert before
    RecordedRun({"count": RecordedStep(MACHINE, 1.0, {"older": 1.0})}).save(lesson.recorded)
    after = recorded_step(lesson, fast=Interval(2.0, 1.0, 3.0))
    assert after
    assert "older" not in after.figures
