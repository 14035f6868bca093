"""Pictures on pages and slides."""

import base64
from dataclasses import replace

import pytest
from teachers_pack import RESULTS, parsed, small_page

from lessons.guide.photos import Photo
from lessons.guide.pictures import MOST_FACTOR, claim_chart, displayed_height, factors, image, margins, photo
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
    assert factors(claim) == ([] if margin is None else [margin])


def test_the_ends_of_an_interval_have_a_margin_each() -> None:
    assert factors(replace(result(None, low=2.0), ends=(3.0, 8.0))) == [1.5, 4.0]
    assert factors(replace(result(6.0, low=2.0), ends=(4.0, 8.0))) == [2.0, 4.0]
    assert factors(replace(result(None, low=2.0), ends=(-1.0, 8.0))) == []


def test_an_interval_is_a_wide_line_in_the_chart() -> None:
    wide = ClaimResult("held", "3 to 8", "", None, 2.0, None, (3.0, 8.0))
    drawing = claim_chart(small_page(replace(RESULTS, claims={"twice-is-two": wide})))
    assert drawing.count('class="interval"') == 1
    assert 'class="interval"' not in claim_chart(small_page())


def test_a_chart_has_a_dot_for_each_margin_and_its_sentence_for_screen_readers() -> None:
    drawing = parsed(claim_chart(small_page()))
    assert len(drawing.findall(".//{*}circle")) == len(margins(small_page())) == 1
    assert "twice one is two: 1× (held)" in (drawing.findtext("{*}desc") or "")
    assert claim_chart(small_page(None)) == ""


def test_a_very_large_margin_does_not_move_the_other_dots_together() -> None:
    charts = [
        parsed(claim_chart(small_page(replace(RESULTS, claims={"twice-is-two": result(2 * factor, low=2.0)}))))
        for factor in (MOST_FACTOR, 1e6)
    ]
    ends, bounds = zip(
        *((chart.find(".//{*}circle"), chart.find(".//{*}path[@class='bound']")) for chart in charts), strict=True
    )
    assert ends[0] is not None
    assert ends[1] is not None
    assert ends[0].get("cx") == ends[1].get("cx")
    assert bounds[0] is not None
    assert bounds[1] is not None
    assert bounds[0].get("d") == bounds[1].get("d")
    assert [each.text for each in charts[1].findall(".//{*}text")][-1] == "1 000 000×"


def test_a_picture_cannot_run_a_script_in_the_page() -> None:
    shown = image("<svg><title>a &amp; b</title><script>alert(1)</script></svg>")
    assert "<script>" not in shown
    assert 'alt="a &amp; b"' in shown


def test_a_photo_is_a_png_with_its_caption_for_screen_readers() -> None:
    shown = photo(Photo("a <page>", b"PNG"))
    assert shown == f'<img alt="a &lt;page&gt;" src="data:image/png;base64,{base64.b64encode(b"PNG").decode()}">'


def test_the_height_of_a_picture_follows_from_its_sides() -> None:
    assert displayed_height('<svg viewBox="0 0 200 50">', 400) == 100
    assert displayed_height("<svg>", 400) == 400
