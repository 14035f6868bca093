"""Recorded runs: what they keep, and when a lesson shows them."""

import io
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rich.console import Console
from sessions import Play

from harness.errors import MachineError, UsageError
from harness.rendering import units
from harness.rendering.tables import Table
from lessons.engine import Choice, Interval, Lesson, Page
from lessons.engine.recorded_parts import Paragraph, RecordedClaim, RecordedPicture, RevealedAnswer
from lessons.engine.recorded_run import FILE, RecordedOn, RecordedRun, RecordedStep, drawings_of
from lessons.engine.recording import MOST_DRAWING_BYTES, record

MACHINE = RecordedOn("2026-11-23", "AMD EPYC", 2, "", "3.11.7", "2.13.0+cpu")


STEP = RecordedStep(
    MACHINE,
    (
        Paragraph("A counter counts `one`."),
        RevealedAnswer("Yes."),
        Table("Counts", ["what", "how many"], [["apples", "1.5 µs"], ["pears", "20 µs"]], [1]),
        RecordedPicture("███ 3\n█ 1", "Bars"),
        RecordedClaim("fast", "held", "3.00×"),
        RecordedClaim("small", "inconclusive", "0.9 to 1.1, the measurement was too uncertain"),
    ),
)


def lesson_of_two_claims(folder: Path, *, simulated: str = "") -> Lesson:
    """Return a lesson of one step with two claims. The test chooses their results."""
    lesson = Lesson(str(folder / "99_test.py"), objective="None.", simulated=simulated)

    @lesson.step("A count", predict=Choice("Yes?", {"a": "yes"}), expected="a")
    def count() -> dict[str, float | None]:
        """Count."""
        return {}

    count.claim("fast", "it is *fast*", at_least=2)
    count.claim("small", "it is small", at_most=1)
    return lesson


def shown(prepare: Play, lesson: Lesson, fast: float | Interval | None, small: float | Interval | None) -> str:
    """Return what is printed if the claims have these values. None skips a claim."""
    step = lesson.steps[0]

    def explain(page: Page, _result: object) -> None:
        page.reveal(None)
        for claim, value in zip(step.claims.values(), (fast, small), strict=True):
            if value is None:
                page.skip(claim, "a counter: apt install counter")
            else:
                page.settle(claim, value)

    step.explain(explain)
    played = prepare(lesson, width=80)
    played.session.play()
    return played.out.getvalue().partition("Key points")[0]


@pytest.fixture
def recorded(tmp_path: Path) -> Lesson:
    lesson = lesson_of_two_claims(tmp_path)
    RecordedRun({"count": STEP}).save(lesson.recorded)
    return lesson


def test_without_a_file_no_step_is_recorded_and_a_damaged_file_is_named(tmp_path: Path) -> None:
    assert RecordedRun.load(tmp_path).steps == {}
    for text in ("{", '{"steps": {"count": {"parts": []}}}', '{"steps": {"count": 1}}'):
        (tmp_path / FILE).write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=r"run\.json cannot be read"):
            RecordedRun.load(tmp_path)


def test_a_skipped_step_shows_its_recorded_explanation(prepare: Play, recorded: Lesson) -> None:
    lines = shown(prepare, recorded, None, None).splitlines()
    start = next(at for at, line in enumerate(lines) if "Recorded" in line)
    quoted = [line for line in lines[start:] if line.strip()]
    assert all(line.startswith("   │ ") for line in quoted)
    text = " ".join(" ".join(line[5:] for line in quoted).split())
    assert text.startswith(f"Recorded On {MACHINE.describe()}, this step showed: A counter counts one. Measured Yes.")
    assert "Counts what how many" in text
    assert "███ 3 █ 1" in text
    assert "✓ it is fast: 3.00×" in text
    assert "? it is small: 0.9 to 1.1," in text
    assert "   │  apples     1.5 µs" in [line.rstrip() for line in lines]
    assert "   │  pears       20 µs" in [line.rstrip() for line in lines]
    assert max(map(len, lines)) <= 80


def test_a_recorded_result_is_shown_if_it_decides_more(prepare: Play, recorded: Lesson) -> None:
    for value in (None, Interval(2.0, 1.0, 3.0)):
        text = " ".join(shown(prepare, recorded, value, 0.5).replace(" │ ", " ").split())
        assert f"Recorded On {MACHINE.describe()}, the result was: ✓ it is fast: 3.00×" in text
        assert "A counter counts" not in text
    for small in (Interval(1.0, 0.5, 2.0), None, 3.0):
        assert "Recorded" not in shown(prepare, recorded, 3.0, small)
    skipped = (RecordedClaim("fast", "skipped", "no counter"), RecordedClaim("small", "skipped", "no counter"))
    RecordedRun({"count": RecordedStep(MACHINE, skipped)}).save(recorded.recorded)
    assert "Recorded" not in shown(prepare, recorded, None, None)


def test_a_simulated_device_shows_the_figures_of_the_real_device(prepare: Play, tmp_path: Path) -> None:
    lesson = lesson_of_two_claims(tmp_path, simulated="GPU")
    with pytest.raises(MachineError, match="This machine has no GPU"):
        list(record(lesson, fast=True))
    RecordedRun({"count": STEP}).save(lesson.recorded)
    text = " ".join(shown(prepare, lesson, 3.0, 0.5).split())
    assert "this step showed:" in text
    assert "✓ it is fast: 3.00×" in text
    assert "A counter counts" not in text


@dataclass
class Here:
    """A simulated machine: what it lacks, whether it is noisy, and the SVG pictures that the step draws there."""

    lacks: str = ""
    noisy: bool = False
    drawn: dict[str, str] = field(default_factory=dict)

    def lesson(self, folder: Path) -> Lesson:
        lesson = Lesson(str(folder / "99_test.py"), objective="None.")

        @lesson.step("A count", predict=Choice("Yes?", {"a": "yes"}), expected="a")
        def count() -> int:
            """Count."""
            return 2

        two = count.claim("two", "it is two", equals=2)

        @count.explain
        def _(page: Page, result: int) -> None:
            if self.lacks:
                page.skip_step(self.lacks, shows="a count")
                return
            page.reveal("a", "It is.")
            page.table(Table.of("Times", {"what": None, "time": units.seconds}, [("one", 1e-3), ("two", 2.5e-6)]))
            page.output("███", caption="A bar")
            for name, svg in self.drawn.items():
                page.drawing("█", svg, name=name, caption="A drawing")
            page.settle(two, Interval(2, 1, 3) if self.noisy else result, remark="counted")
            page.say("Two of two.")
            page.say(f"Open {Path(sys.executable).parents[1]} in a browser.", f"It is in {Path.home()}.")

        return lesson


def recorded_step(lesson: Lesson) -> RecordedStep | None:
    """Record a lesson, and return the record of its step, if there is one."""
    list(record(lesson, fast=True, console=Console(file=io.StringIO(), width=80)))
    return RecordedRun.load(lesson.recorded).steps.get("count")


def test_a_record_contains_the_explanation_and_a_measured_question_but_no_path_of_the_machine(tmp_path: Path) -> None:
    lesson = Here().lesson(tmp_path)
    step = recorded_step(lesson)
    assert step
    assert step.parts == (
        RevealedAnswer("Yes. It is."),
        Table("Times", ["what", "time"], [["one", "1 ms"], ["two", "2.50 µs"]], [1]),
        RecordedPicture("███", "A bar"),
        RecordedClaim("two", "held", "2, counted", 2.0, 2.0, 2.0, 2.0, 2.0),
        Paragraph("Two of two."),
    )
    assert step.made_on.python.startswith(f"{sys.version_info[0]}.{sys.version_info[1]}.")
    assert (step.made_on.date > "2026-01-01", step.question) == (True, "")
    lesson.steps[0].predict = lambda _page: Choice("Is 2 more than 1?", {"a": "yes"})
    step = recorded_step(lesson)
    assert step
    assert step.question == "Is 2 more than 1?"


def test_a_step_that_is_skipped_or_decides_fewer_claims_keeps_its_earlier_record_and_drawings(tmp_path: Path) -> None:
    here = Here(lacks="a counter: apt install counter")
    lesson = here.lesson(tmp_path)
    assert recorded_step(lesson) is None
    here.lacks, here.drawn = "", {"flame": "<svg>before</svg>"}
    before = recorded_step(lesson)
    here.drawn = {"flame": "<svg>after</svg>"}
    for here.lacks, here.noisy in (("a counter: apt install counter", False), ("", True)):
        assert recorded_step(lesson) == before
        (kept,) = drawings_of(lesson.recorded, "count")
        assert kept.read_text(encoding="utf-8") == "<svg>before</svg>"
    RecordedRun({"count": RecordedStep(MACHINE, (RecordedClaim("older", "held", "1"),))}).save(lesson.recorded)
    after = recorded_step(lesson)
    assert after
    assert after.claims["two"].standing == "inconclusive"
    assert RecordedRun.load(lesson.recorded).inconclusive == ["two"]


def test_small_drawings_are_kept_beside_the_record(tmp_path: Path) -> None:
    drawn = {
        "flame": "<svg>µ</svg>",
        "large": f"<svg>{'a' * MOST_DRAWING_BYTES}</svg>",
        "mine": f"<svg>{Path.home()}</svg>",
    }
    lesson = Here(drawn=drawn).lesson(tmp_path)
    lesson.recorded.mkdir(parents=True)
    older = lesson.recorded / "count-older.svg"
    older.write_text("<svg/>", encoding="utf-8")
    files = list(record(lesson, fast=True, console=Console(file=io.StringIO(), width=80)))
    assert [file.name for file in files] == ["count-flame.svg", "run.json"]
    assert [file.name for file in drawings_of(lesson.recorded, "count")] == ["count-flame.svg"]
    assert files[0].read_text(encoding="utf-8") == "<svg>µ</svg>"
