"""`--record` keeps what the screen showed, and the record prints it again."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from sessions import Play

from harness.errors import MachineError
from harness.rendering import units
from harness.rendering.tables import Table
from lessons.engine import Choice, Interval, Lesson, Page
from lessons.engine.recorded_parts import (
    Paragraph,
    RecordedClaim,
    RecordedPicture,
    RecordedTable,
    RevealedAnswer,
    to_json,
)
from lessons.engine.recorded_run import RecordedRun, RecordedStep, drawings_of
from lessons.engine.recording import MOST_DRAWING_BYTES, record

HERE = {"lacks": "", "noise": ""}
"""The missing part of the simulated machine, and whether it is too noisy. "" stands for a quiet machine that lacks
nothing."""

HERE_DRAWN: dict[str, str] = {}
"""The SVG pictures that the step draws."""


@pytest.fixture(autouse=True)
def complete() -> Iterator[None]:
    yield
    HERE.update(lacks="", noise="")
    HERE_DRAWN.clear()


def lesson_of(folder: Path) -> Lesson:
    lesson = Lesson(str(folder / "99_test.py"), objective="None.")

    @lesson.step("A count", predict=Choice("Yes?", {"a": "yes"}), expected="a")
    def count() -> int:
        """Count."""
        return 2

    two = count.claim("two", "it is two", equals=2)

    @count.explain
    def _(page: Page, result: int) -> None:
        if HERE["lacks"]:
            page.skip_step(HERE["lacks"], shows="a count")
            return
        page.reveal("a", "It is.")
        page.table(Table.of("Times", {"what": None, "time": units.seconds}, [("one", 1e-3), ("two", 2.5e-6)]))
        page.output("███", caption="A bar")
        for name, svg in HERE_DRAWN.items():
            page.drawing("█", svg, name=name, caption="A drawing")
        page.settle(two, Interval(2, 1, 3) if HERE["noise"] else result, remark="counted")
        page.say("Two of two.")
        page.say(f"Open {Path(sys.executable).parents[1]} in a browser.", f"It is in {Path.home()}.")

    return lesson


def recorded(lesson: Lesson) -> str:
    out = io.StringIO()
    files = list(record(lesson, fast=True, console=Console(file=out, width=80)))
    assert files == [lesson.recorded / "run.json"]
    return out.getvalue()


def test_a_record_contains_the_explanation_but_no_path_of_the_machine(tmp_path: Path) -> None:
    lesson = lesson_of(tmp_path)
    assert "It is two" not in recorded(lesson)
    step = RecordedRun.load(lesson.recorded).steps["count"]
    assert step.parts == (
        RevealedAnswer("Yes. It is."),
        RecordedTable("Times", ["what", "time"], [["one", "1 ms"], ["two", "2.50 µs"]], [1]),
        RecordedPicture("███", "A bar"),
        RecordedClaim("two", "held", "2, counted", 2.0, 2.0, 2.0, 2.0, 2.0),
        Paragraph("Two of two."),
    )
    assert step.made_on.python.startswith(f"{sys.version_info[0]}.{sys.version_info[1]}.")
    assert step.made_on.date > "2026-01-01"


def test_a_record_contains_only_a_question_with_measured_values(tmp_path: Path) -> None:
    lesson = lesson_of(tmp_path)
    recorded(lesson)
    assert RecordedRun.load(lesson.recorded).steps["count"].question == ""
    lesson.steps[0].predict = lambda _page: Choice("Is 2 more than 1?", {"a": "yes"})
    recorded(lesson)
    assert RecordedRun.load(lesson.recorded).steps["count"].question == "Is 2 more than 1?"


def test_a_step_that_this_machine_skips_keeps_its_earlier_record(tmp_path: Path) -> None:
    lesson = lesson_of(tmp_path)
    HERE["lacks"] = "a counter: apt install counter"
    recorded(lesson)
    assert RecordedRun.load(lesson.recorded).steps == {}
    HERE["lacks"] = ""
    recorded(lesson)
    before = RecordedRun.load(lesson.recorded)
    HERE["lacks"] = "a counter: apt install counter"
    assert "Recorded" not in recorded(lesson)
    assert RecordedRun.load(lesson.recorded) == before


def test_a_step_that_decides_fewer_claims_keeps_its_earlier_record(tmp_path: Path) -> None:
    lesson = lesson_of(tmp_path)
    recorded(lesson)
    before = RecordedRun.load(lesson.recorded)
    HERE["noise"] = "much"
    recorded(lesson)
    assert RecordedRun.load(lesson.recorded) == before
    older = RecordedStep(before.steps["count"].made_on, (RecordedClaim("older", "held", "1"),))
    RecordedRun({"count": older}).save(lesson.recorded)
    recorded(lesson)
    assert RecordedRun.load(lesson.recorded).steps["count"].claims["two"].standing == "inconclusive"
    assert (before.inconclusive, RecordedRun.load(lesson.recorded).inconclusive) == ([], ["two"])


def test_what_was_recorded_is_shown_on_a_machine_that_lacks_something(prepare: Play, tmp_path: Path) -> None:
    lesson = lesson_of(tmp_path)
    recorded(lesson)
    HERE["lacks"] = "a counter: apt install counter"
    played = prepare(lesson)
    played.session.play()
    printed = played.out.getvalue()
    assert "│  two    2.50 µs" in printed
    assert "✓  it is two" in printed
    assert [claim.standing for claim in played.session.record().claims] == ["skipped"]


def test_a_lesson_that_simulates_its_device_cannot_be_recorded(tmp_path: Path) -> None:
    lesson = lesson_of(tmp_path)
    lesson.simulated = "GPU"
    with pytest.raises(MachineError, match="This machine has no GPU"):
        list(record(lesson, fast=True))


def test_small_drawings_are_kept_beside_the_record(tmp_path: Path) -> None:
    lesson = lesson_of(tmp_path)
    lesson.recorded.mkdir(parents=True)
    older = lesson.recorded / "count-older.svg"
    older.write_text("<svg/>", encoding="utf-8")
    HERE_DRAWN.update(
        flame="<svg>µ</svg>", large=f"<svg>{'a' * MOST_DRAWING_BYTES}</svg>", named=f"<svg>{Path.home()}</svg>"
    )
    files = list(record(lesson, fast=True, console=Console(file=io.StringIO(), width=80)))
    assert [file.name for file in files] == ["count-flame.svg", "run.json"]
    assert [file.name for file in drawings_of(lesson.recorded, "count")] == ["count-flame.svg"]
    assert files[0].read_text(encoding="utf-8") == "<svg>µ</svg>"


def test_a_step_that_keeps_its_earlier_record_keeps_its_drawings(tmp_path: Path) -> None:
    lesson = lesson_of(tmp_path)
    HERE_DRAWN.update(flame="<svg>before</svg>")
    list(record(lesson, fast=True, console=Console(file=io.StringIO(), width=80)))
    HERE.update(lacks="a counter: apt install counter")
    HERE_DRAWN.update(flame="<svg>after</svg>")
    list(record(lesson, fast=True, console=Console(file=io.StringIO(), width=80)))
    (kept,) = drawings_of(lesson.recorded, "count")
    assert kept.read_text(encoding="utf-8") == "<svg>before</svg>"


def test_a_record_keeps_the_interval_and_the_bounds_of_a_claim(tmp_path: Path) -> None:
    lesson = lesson_of(tmp_path)
    HERE["noise"] = "much"
    recorded(lesson)
    claim = RecordedRun.load(lesson.recorded).steps["count"].claims["two"]
    assert (claim.low, claim.middle, claim.high) == (1.0, 2.0, 3.0)
    assert (claim.at_least, claim.at_most) == (2.0, 2.0)
    unknown = to_json(RecordedClaim("a", "skipped", ""))
    assert unknown == {"kind": "claim", "id": "a", "standing": "skipped", "value": ""}
