"""The code that a lesson shows, and the screen: its width, its marks, and the claims and words on a page."""

import io
import math
import runpy
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from harness.rendering import units
from harness.rendering.tables import Table
from lessons.engine.claim import Claim
from lessons.engine.markup import plain, styled
from lessons.engine.page import Page
from lessons.engine.screen import Screen
from lessons.engine.source import code_of

WORDS = "A block need only be long enough for the clock, and no longer. " * 4
CODE = (
    "def f(values):\n    return [value * value + 1 for value in values if value > 100 and value % 7 == 3 or not value]"
)
FILE = Path("/home/student/a_folder_with_a_long_name/of_a_project/lessons/recorded/11_torch_profiler/overview.png")
URL = "https://docs.pytorch.org/tutorials/recipes/recipes/a_very_long_name_of_a_page_that_no_terminal_of_60_holds.html"

FASTER = Claim("faster", "it is *faster*", at_least=1, unit=units.ratio)
OTHER = Claim("other", "it is `other`", 0, 0)


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


@pytest.fixture
def printed() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def page(printed: io.StringIO) -> Page:
    screen = Screen(Console(file=printed, width=80))
    return Page(screen, 0.01, {"faster": FASTER, "other": OTHER}, {}, lambda _name, _svg: None)


def text(printed: io.StringIO) -> str:
    return " ".join(printed.getvalue().split())


@pytest.mark.parametrize(("measured", "standing"), [(2.0, "held"), (0.5, "inconclusive"), (math.nan, "inconclusive")])
def test_a_disturbed_value_can_confirm_a_claim_but_not_refute_it(page: Page, measured: float, standing: str) -> None:
    page.settle(FASTER, measured, disturbed=True)
    assert page.claims[-1].standing == standing


@pytest.mark.parametrize(
    ("measured", "words"), [(2.0, "It won."), (0.5, "It lost."), (math.nan, "It is unclear."), (None, "")]
)
def test_words_fit_the_result_of_the_claim(
    page: Page, printed: io.StringIO, measured: float | None, words: str
) -> None:
    if measured is None:
        page.skip(FASTER, "no rival: build one")
    else:
        page.settle(FASTER, measured)
    page.say("First.", FASTER.words(held="It won.", refuted="It lost.", unclear="It is unclear."), "Last.")
    assert text(printed).endswith(" ".join(filter(None, ("First.", words, "Last."))))


def test_a_step_that_cannot_run_skips_each_claim_and_prints_what_it_would_show(
    page: Page, printed: io.StringIO
) -> None:
    page.skip_step("no counter: apt install counter", shows="the counts of two functions")
    assert [claim.standing for claim in page.claims] == ["skipped", "skipped"]
    assert text(printed).endswith("If nothing is missing, this step shows the counts of two functions.")


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
    assert code_of(runpy.run_path(str(tmp_path / "a.py"))["annotated"]).splitlines() == [
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
