"""Claims, the intervals that decide them, and the screen that shows code, claims and words."""

import io
import json
import math
from pathlib import Path
from random import Random

import pytest
from rich.cells import cell_len
from rich.console import Console
from sessions import Play, lesson_from

from harness.rendering.tables import Table
from lessons.engine import explain
from lessons.engine.claim import Claim
from lessons.engine.explain import ClaimLine, StepFigures, explained
from lessons.engine.figures import Figures
from lessons.engine.interval import UNLIKELY, ClaimStanding, Interval
from lessons.engine.lesson import Lesson
from lessons.engine.listing import claims_words
from lessons.engine.markup import plain, styled
from lessons.engine.parsing import parse
from lessons.engine.progress import ProgressFile
from lessons.engine.screen import Screen
from lessons.engine.source import read_functions

HELD, REFUTED, INCONCLUSIVE, SKIPPED = ClaimStanding


def test_an_inconclusive_claim_names_the_cause() -> None:
    claim = Claim("id", "it is so", at_least=1.0)
    assert claim.settled(Interval.plus_minus(2.0, 2.0).widened(5.0)).reason == "the measurement was too uncertain"
    assert claim.settled(Interval.plus_minus(2.0, 0.5).widened(0.6)).reason == "the machine was too noisy"
    assert claim.settled(Interval.unknown(), shown="1 to 2").reason == "nothing could be measured"
    assert claim.settled(Interval.plus_minus(2.0, 0.5).widened(0.5)).reason == ""


def test_a_comparison_needs_the_whole_interval() -> None:
    for measured, half_width, low, high, standing in (
        (2.0, 0.0, 2.0, 2.0, HELD),
        (2.0, 1.0, 1.0, 3.0, HELD),
        (2.0, 1.1, 1.0, 3.0, INCONCLUSIVE),
        (0.5, 0.4, 1.0, 3.0, REFUTED),
        (0.5, 0.5, 1.0, 3.0, INCONCLUSIVE),
        (4.0, 0.5, 1.0, 3.0, REFUTED),
        (4.0, 2.0, 3.0, math.inf, INCONCLUSIVE),
        (math.inf, 0.0, 1.0, math.inf, HELD),
        (2.0, math.inf, 1.0, 3.0, INCONCLUSIVE),
        (math.nan, 0.0, -math.inf, math.inf, INCONCLUSIVE),
    ):
        interval = Interval.plus_minus(measured, half_width)
        assert interval.compare(at_least=low, at_most=high) is standing, interval


def test_the_median_lies_in_the_interval_of_the_sign_test() -> None:
    assert Interval.median([4.0] * 8 + [40.0]) == Interval.exact(4)
    assert Interval.median([4.0] * 7 + [2.0] * 2) == Interval(4, 2, 4)
    assert Interval.median([4.0, 4.0, 2.0]) == Interval(4, 2, 4)
    assert Interval.median([float(n) for n in range(20)]) == Interval(9.5, 4, 15)


def test_the_interval_of_the_median_misses_it_in_at_most_the_stated_share_of_samples() -> None:
    draws = Random(7)
    missed = 0
    for _ in range(2000):
        found = Interval.median([draws.expovariate(1) for _ in range(12)])
        missed += not found.low <= math.log(2) <= found.high
    assert UNLIKELY / 2 < missed / 2000 < UNLIKELY * 1.25


def test_the_interval_of_a_share_is_narrower_with_more_tests_and_never_has_width_zero() -> None:
    assert Interval.share(200, 400).half_width == pytest.approx(0.05)
    assert Interval.share(50, 100).half_width == pytest.approx(0.1)
    assert Interval.share(0, 100).half_width > 0
    assert Interval.share(0, 100).low == 0
    assert Interval.share(7, 8).high == 1
    assert math.isnan(Interval.share(0, 0).middle)


def test_noise_widens_an_interval_on_both_sides() -> None:
    interval = Interval(2, 1, 4).widened(0.5).with_noise(0.1)
    assert (interval.lowest, interval.highest) == pytest.approx((0.3, 4.7))
    assert Interval.exact(2).void_if(True).compare(at_least=1) is INCONCLUSIVE
    assert Interval.exact(2).void_if(False).compare(at_least=1) is HELD
    assert Interval.unknown().with_noise(0.1).noise == 0


MISSING = """
def count():
    return 1

def count_figures(result):
    return {"one": result, "counter": Lacking("no counter here: apt install counter"), "sure": "a", "bad": result > 1}
"""
WORDS_OF_COUNT = """---
objective: None.
---

## A missing part {#count}

:::{run} count
:::

:::{question} sure
:choices:
  - yes
  - no
:expected: a
Yes?
:::

:::{claim} there
:holds: one == 1
one is one
:::

:::{claim} not-there
:holds: counter == 1
:held: It counts.
a counter counts
:::

The counter says {{ counter | count }}.

## Key points

- one

## References

- a book
"""


@pytest.fixture
def lesson(tmp_path: Path) -> Lesson:
    return lesson_from(tmp_path, "missing_part", MISSING, WORDS_OF_COUNT)


def test_a_skipped_claim_names_the_missing_part_and_counts_as_neither_held_nor_refuted(
    prepare: Play, lesson: Lesson
) -> None:
    played = prepare(lesson, width=100)
    played.session.play()
    printed = " ".join(played.out.getvalue().split())
    assert "✓ one is one" in printed
    assert "– a counter counts: skipped: no counter here:" in printed
    assert "It counts" not in printed
    assert "The counter says" not in printed
    claim = json.loads(json.dumps(played.session.record().to_json(), allow_nan=False))["claims"][1]
    assert (claim["verdict"], claim["reason"]) == ("skipped", "no counter here: apt install counter")
    assert claim["measured"] is claim["low"] is claim["high"] is None
    ProgressFile().save(played.session.record())
    progress = ProgressFile().load()["missing_part"]
    assert progress.claims == {"there": "held", "not-there": "skipped"}
    assert (progress.held, progress.measured) == (1, 1)
    assert claims_words(progress) == "1/1, 1 skipped"


WORDS = "A block need only be long enough for the clock, and no longer. " * 4
CODE = (
    "def f(values):\n    return [value * value + 1 for value in values if value > 100 and value % 7 == 3 or not value]"
)
FILE = Path("/home/student/a_folder_with_a_long_name/of_a_project/lessons/recorded/11_torch_profiler/overview.png")
URL = "https://docs.pytorch.org/tutorials/recipes/recipes/a_very_long_name_of_a_page_that_no_terminal_of_60_holds.html"


def test_all_text_is_shown_within_the_width_also_if_the_terminal_is_resized() -> None:
    file = io.StringIO()
    console = Console(file=file)
    screen = Screen(console)
    for width in (140, 60):
        console.width = width
        screen.say(WORDS)
        screen.code(CODE)
        screen.table(Table.of("A table", {"what": None, "value": None}, [(URL, 1.0)]))
        screen.photo(FILE, WORDS)
        screen.closing([WORDS], [URL])
        lines = file.getvalue().splitlines()
        assert max(map(cell_len, lines)) <= width
        assert any(CODE.splitlines()[1] in line for line in lines) == (width == 140), "long code is wrapped if needed"
        text = "".join(line.strip().removeprefix("│").strip() for line in lines)
        assert "…" not in text
        for part in (URL, str(FILE), "not value]"):
            assert part in text
        file.truncate(0)
        file.seek(0)


def test_marks_are_left_out_only_where_they_are_marks() -> None:
    for text, shown in (
        ("a `b * c` and *not* d", "a b * c and not d"),
        ("2*3 is 3*2", "2*3 is 3*2"),
        ("a * b * c", "a * b * c"),
        ("**kwargs and *args", "**kwargs and *args"),
        ("(*both words*), then", "(both words), then"),
        ("`*x*`", "*x*"),
    ):
        assert plain(text) == shown
    assert {span.style for span in styled("a `b` and *c*").spans} == {"cyan", "italic"}


@pytest.mark.parametrize(("measured", "standing"), [(2.0, "held"), (0.5, "inconclusive"), (math.nan, "inconclusive")])
def test_a_disturbed_value_can_confirm_a_claim_but_not_refute_it(measured: float, standing: str) -> None:
    words = WORDS_OF_COUNT.replace(":holds: one == 1", ":holds: one >= 1\n:disturbed: bad")
    (step,) = parse(Path("disturbed.md"), words).steps
    figures: Figures = {"one": measured, "bad": True, "counter": 1, "sure": "a"}
    assert explained(step, StepFigures(figures)).claims[0].standing == standing


@pytest.mark.parametrize(("value", "words"), [(1, "It counts."), (0, explain.REFUTED), (math.nan, explain.UNCLEAR)])
def test_what_is_said_fits_the_result_of_the_claim(value: float, words: str) -> None:
    (step,) = parse(Path("said.md"), WORDS_OF_COUNT).steps
    parts = explained(step, StepFigures({"one": 1, "counter": value, "sure": "a"})).parts
    assert [part.words for part in parts if isinstance(part, ClaimLine)] == ["", words]


ANNOTATED = """
def annotated(
    first: dict[str, int],
    *,  # fmt: skip
    second: str = "-> no annotation: #noqa",
) -> dict[
    str,
    int,
]:
    # noqa: D103
    def inner(third: int) -> tuple[list[int], str]:  # type: ignore[return-value]  # for the test
        return first[third:]  # a comment for people

    return {"->": inner(2)}  # noqa: ERA001
"""


def test_return_annotations_and_comments_for_tools_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(ANNOTATED)
    assert read_functions(tmp_path / "a.py")["annotated"].splitlines() == [
        "def annotated(",
        "    first: dict[str, int],",
        "    *,",
        '    second: str = "-> no annotation: #noqa",',
        "):",
        "    def inner(third: int):",
        "        return first[third:]  # a comment for people",
        "",
        '    return {"->": inner(2)}',
    ]
