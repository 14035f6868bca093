import io
from types import SimpleNamespace
from typing import cast

import pytest
from rich.console import Console

from harness import units
from harness.findings import Duel
from lessons.engine.page import Page
from lessons.engine.screen import Screen


@pytest.fixture
def printed() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def page(printed: io.StringIO) -> Page:
    screen = Screen(Console(file=printed, width=80))
    return Page(screen, 0.01, {"faster": "it is faster"}, {}, lambda _name, _svg: None)


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
def test_a_claim_about_a_duel_stands_as_far_as_its_interval_allows(page: Page, duel: Duel, standing: str) -> None:
    assert page.claim_duel("faster", duel, low=1).standing == standing


def test_what_is_shown_in_place_of_the_value_leaves_the_bounds_as_they_are(page: Page, printed: io.StringIO) -> None:
    settled = page.claim("faster", 1.5, low=1, unit=units.ratio, shown="1.2× to 1.8×", remark="in all turns")
    assert (settled.shown, settled.wanted) == ("1.2× to 1.8×", "at least 1×")
    assert "1.2× to 1.8×, in all turns" in " ".join(printed.getvalue().split())
