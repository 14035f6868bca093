import io
import math
from types import SimpleNamespace
from typing import cast

import pytest
from rich.console import Console

from harness.paired.duel_result import Duel
from harness.rendering import units
from lessons.engine.claim import Claim
from lessons.engine.interval import Interval
from lessons.engine.page import Page
from lessons.engine.screen import Screen

FASTER = Claim("faster", "it is *faster*", at_least=1, unit=units.ratio)
OTHER = Claim("other", "it is `other`", 0, 0)


@pytest.fixture
def printed() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def page(printed: io.StringIO) -> Page:
    screen = Screen(Console(file=printed, width=80))
    return Page(screen, 0.01, {"faster": FASTER, "other": OTHER}, {}, lambda _name, _svg: None)


def fought(ratio: float, low: float, high: float) -> Duel:
    return cast("Duel", SimpleNamespace(ratio=ratio, low=low, high=high))


@pytest.mark.parametrize(
    ("duel", "standing"),
    [
        (fought(1.5, 1.2, float("inf")), "held"),
        (fought(1.5, 0.9, 1.6), "inconclusive"),
        (fought(0.5, 0.4, 0.6), "refuted"),
    ],
)
def test_a_claim_about_a_duel_uses_the_interval_of_the_duel(page: Page, duel: Duel, standing: str) -> None:
    page.settle(FASTER, Interval.duel(duel))
    assert page.claims[-1].standing == standing
    assert page.claims[-1].claim.bounds == "at least 1×"


def test_shown_replaces_the_value_and_not_the_bounds(page: Page, printed: io.StringIO) -> None:
    page.settle(FASTER, 1.5, shown="1.2× to 1.8×", remark="in all turns")
    assert (page.claims[-1].shown, page.claims[-1].claim.bounds) == ("1.2× to 1.8×", "at least 1×")
    assert "1.2× to 1.8×, in all turns" in text(printed)
    assert "it is faster" in text(printed)


def test_bounds_that_are_measured_replace_those_of_the_claim(page: Page) -> None:
    page.settle(FASTER, 1.5, at_least=2, unit=units.percent)
    assert (page.claims[-1].standing, page.claims[-1].claim.bounds) == ("refuted", "at least 200 %")


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


def test_words_about_a_claim_that_is_not_settled_yet_are_an_error(page: Page) -> None:
    with pytest.raises(ValueError, match="no result yet"):
        page.say(FASTER.words(held="It won.", refuted="It lost.", unclear="It is unclear."))


def test_a_claim_is_settled_once(page: Page) -> None:
    page.settle(FASTER, 2)
    with pytest.raises(ValueError, match="already settled"):
        page.settle(FASTER, 2)


def test_a_step_that_cannot_run_skips_each_claim_and_prints_what_it_would_show(
    page: Page, printed: io.StringIO
) -> None:
    page.skip_step("no counter: apt install counter", shows="the counts of two functions")
    assert [claim.standing for claim in page.claims] == ["skipped", "skipped"]
    assert text(printed).endswith("If nothing is missing, this step shows the counts of two functions.")


def text(printed: io.StringIO) -> str:
    return " ".join(printed.getvalue().split())
