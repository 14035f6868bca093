"""Pictures on pages and slides."""

import pytest
from teachers_pack import parsed, small_page

from lessons.guide.pictures import claim_chart, factor, image, margins
from lessons.guide.results import ClaimResult


def result(measured: float | None, low: float | None = None, high: float | None = None) -> ClaimResult:
    return ClaimResult("held", "", "", measured, low, high)


@pytest.mark.parametrize(
    ("claim", "margin"),
    [
        (result(6.0, low=2.0), 3.0),
        (result(1.0, low=2.0), 0.5),
        (result(0.5, high=2.0), 4.0),
        (result(2.0, low=1.0, high=3.0), 1.5),
        (result(None, low=1.0), None),
        (result(0.0, high=1.0), None),
        (result(3.0), None),
        (result(3.0, low=0.0), None),
    ],
)
def test_a_margin_is_the_factor_between_the_value_and_the_nearer_bound(
    claim: ClaimResult, margin: float | None
) -> None:
    assert factor(claim) == margin


def test_a_chart_has_a_dot_for_each_margin_and_its_sentence_for_screen_readers() -> None:
    drawing = parsed(claim_chart(small_page()))
    assert len(drawing.findall(".//{*}circle")) == len(margins(small_page())) == 1
    assert "twice one is two: 1× (held)" in (drawing.findtext("{*}desc") or "")


def test_without_results_there_is_no_chart() -> None:
    assert claim_chart(small_page(None)) == ""


def test_a_picture_cannot_run_a_script_in_the_page() -> None:
    shown = image("<svg><title>a &amp; b</title><script>alert(1)</script></svg>")
    assert "<script>" not in shown
    assert 'alt="a &amp; b"' in shown
