"""The recorded run of a step is shown if the current run cannot decide the step's claims."""

import json
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest
from sessions import Play

from harness.errors import UsageError
from lessons.engine import Choice, Interval, Lesson, Page
from lessons.engine.notebook import Guide
from lessons.engine.recorded_parts import Paragraph, RecordedClaim, RecordedPicture, RecordedTable, RevealedAnswer
from lessons.engine.recorded_run import FILE, RecordedOn, RecordedRun, RecordedStep

MACHINE = RecordedOn("2026-11-23", "AMD EPYC", 2, "", "3.11.7", "2.13.0+cpu")
STEP = RecordedStep(
    MACHINE,
    (
        Paragraph("A counter counts `one`."),
        RevealedAnswer("Yes."),
        RecordedTable("Counts", ["what", "how many"], [["apples", "1.5 µs"], ["pears", "20 µs"]], [1]),
        RecordedPicture("███ 3\n█ 1", "Bars"),
        RecordedClaim("fast", "held", "3.00×"),
        RecordedClaim("small", "inconclusive", "0.9 to 1.1, the measurement was too uncertain"),
    ),
)
Result = Callable[[Page, str], None]


def lesson_of(folder: Path, *, simulated: str = "") -> Lesson:
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


def words(printed: str) -> str:
    """Return the printed text on one line, without the vertical line beside recorded parts."""
    return " ".join(printed.replace(" │ ", " ").split())


@pytest.fixture
def recorded(tmp_path: Path) -> Lesson:
    lesson = lesson_of(tmp_path)
    RecordedRun({"count": STEP}).save(lesson.recorded)
    return lesson


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = RecordedRun({"count": STEP}).save(tmp_path / "a" / "b")
    assert json.loads(file.read_text(encoding="utf-8"))["steps"]["count"]["made on"]["cpu"] == "AMD EPYC"
    assert RecordedRun.load(tmp_path / "a" / "b") == RecordedRun({"count": STEP})


def test_without_a_file_no_step_is_recorded_and_a_damaged_file_is_named(tmp_path: Path) -> None:
    assert RecordedRun.load(tmp_path).steps == {}
    for text in ("{", '{"steps": {"count": {"parts": []}}}', '{"steps": {"count": 1}}'):
        (tmp_path / FILE).write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=r"run\.json cannot be read"):
            RecordedRun.load(tmp_path)


def test_the_machine_is_described_with_date_and_versions() -> None:
    described = "a machine with AMD EPYC and 2 cores (2026-11-23, Python 3.11.7, torch 2.13.0)"
    assert MACHINE.describe() == described
    with_gpu = RecordedOn("2026-11-23", "AMD EPYC", 2, "NVIDIA H100", "3.11.7", "2.13.0")
    assert with_gpu.describe().startswith("a machine with NVIDIA H100 and AMD EPYC and 2 cores (")


def test_a_skipped_step_shows_its_recorded_explanation(prepare: Play, recorded: Lesson) -> None:
    lines = shown(prepare, recorded, None, None).splitlines()
    start = next(at for at, line in enumerate(lines) if "Recorded" in line)
    quoted = [line for line in lines[start:] if line.strip()]
    assert all(line.startswith("   │ ") for line in quoted)
    text = " ".join(" ".join(line[5:] for line in quoted).split())
    assert text.startswith(f"Recorded On {MACHINE.describe()}, this step showed: A counter counts one. Measured Yes.")
    assert "Counts what how many" in text
    assert "███ 3 █ 1" in text
    assert "✓ it is fast 3.00×" in text
    assert "? it is small 0.9 to 1.1," in text
    assert "   │  apples     1.5 µs" in [line.rstrip() for line in lines]
    assert "   │  pears       20 µs" in [line.rstrip() for line in lines]
    assert max(map(len, lines)) <= 80


def test_a_skipped_or_unclear_claim_shows_only_its_recorded_result(prepare: Play, recorded: Lesson) -> None:
    for value in (None, Interval(2.0, 1.0, 3.0)):
        text = words(shown(prepare, recorded, value, 0.5))
        assert f"Recorded On {MACHINE.describe()}, the result was: ✓ it is fast 3.00×" in text
        assert "A counter counts" not in text


def test_a_notebook_shows_the_recorded_explanation(
    prepare: Play, recorded: Lesson, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown(prepare, recorded, None, None)
    module = types.ModuleType("lessons.99_test")
    monkeypatch.setattr(module, "lesson", recorded, raising=False)
    monkeypatch.setitem(sys.modules, "lessons.99_test", module)
    Guide("lessons.99_test").explain("count", {})
    assert "this step showed: A counter counts one." in words(capsys.readouterr().out)


def test_a_record_that_decides_no_more_than_this_run_is_not_shown(prepare: Play, recorded: Lesson) -> None:
    assert "Recorded" not in shown(prepare, recorded, 3.0, Interval(1.0, 0.5, 2.0))
    assert "Recorded" not in shown(prepare, recorded, 3.0, None)
    assert "Recorded" not in shown(prepare, recorded, 3.0, 3.0)
    skipped = (RecordedClaim("fast", "skipped", "no counter"), RecordedClaim("small", "skipped", "no counter"))
    RecordedRun({"count": RecordedStep(MACHINE, skipped)}).save(recorded.recorded)
    assert "Recorded" not in shown(prepare, recorded, None, None)


def test_a_step_without_a_record_shows_only_the_reason(prepare: Play, tmp_path: Path) -> None:
    text = shown(prepare, lesson_of(tmp_path), None, None)
    assert "apt install counter" in " ".join(text.split())
    assert "Recorded" not in text


def test_a_simulated_device_shows_the_figures_of_the_real_device(prepare: Play, tmp_path: Path) -> None:
    lesson = lesson_of(tmp_path, simulated="GPU")
    RecordedRun({"count": STEP}).save(lesson.recorded)
    text = " ".join(shown(prepare, lesson, 3.0, 0.5).split())
    assert "this step showed:" in text
    assert "✓ it is fast 3.00×" in text
    assert "A counter counts" not in text


def test_a_recorded_claim_that_the_lesson_no_longer_has_is_left_out(prepare: Play, tmp_path: Path) -> None:
    lesson = lesson_of(tmp_path)
    parts = (RecordedClaim("older", "held", "1"), *STEP.parts)
    RecordedRun({"count": RecordedStep(MACHINE, parts)}).save(lesson.recorded)
    assert "✓ it is fast 3.00×" in " ".join(shown(prepare, lesson, None, None).split())
