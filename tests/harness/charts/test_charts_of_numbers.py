"""Charts as terminal text and as SVG: their shapes, and their words for screen readers."""

import math
from math import inf, nan
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.charts import pictures, svg
from harness.charts.pictures import BarRow, BarValue, Mark, bar_chart_svg, bar_rows_svg, histogram_svg
from harness.charts.plots import MARKS, Axis, bars, curves, histogram, sparkline
from harness.rendering import units
from harness.rendering.units import number

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

TWO = {"flat": [(1.0, 1e-6), (10.0, 1e-6), (100.0, 1e-6)], "rising": [(1.0, 1e-7), (10.0, 1e-6), (100.0, 1e-5)]}


def test_a_histogram_is_one_line_between_its_ends_where_one_outlier_of_thousands_still_shows() -> None:
    assert Axis(0.0, 10.0).counts([0, 4.9, 5, 10, 10, 99, nan], 2) == (2, 4)
    assert histogram([1e-4] * 8 + [1.3e-4] * 4 + [2e-4], bins=4) == "100 µs █▄ ▁ 200 µs"
    assert histogram([1.0] * 100_000 + [2.0], bins=3, unit=number) == "1 █ ▁ 2"
    assert histogram([2e-6, 2e-6]) == "2 µs █ 2 µs"


def test_what_a_plot_cannot_show_is_refused() -> None:
    for samples in ([], [nan], [1.0, inf]):
        with pytest.raises(ValueError, match="all finite"):
            histogram(samples)
    with pytest.raises(ValueError, match="one bin or more"):
        histogram([1.0, 2.0], bins=0)
    with pytest.raises(ValueError, match="negative"):
        bars([("a", -1.0)])
    nothing: list[dict[str, list[tuple[float, float]]]] = [{}, {"none": []}]
    for series in [*nothing, *({"wrong": [point]} for point in [(0.0, 1.0), (1.0, -1.0), (1.0, inf)])]:
        with pytest.raises(ValueError, match="positive and finite"):
            curves(series)
    with pytest.raises(ValueError, match="there are no more marks"):
        curves({str(number): [(1.0, 1.0)] for number in range(len(MARKS) + 1)})


def test_a_sparkline_leaves_gaps_and_bars_are_drawn_to_an_eighth_of_a_character() -> None:
    shown = {(0.0, 1, 2, 3, 4, 5, 6, 7): "▁▂▃▄▅▆▇█", (0, nan, 7): "▁ █", (3, 3): "▁▁", (): ""}
    assert {values: sparkline(values) for values in shown} == shown
    rows = [("a", 8.0), ("long", 5.0), ("none", 0.0), ("tiny", 1e-9), ("lost", nan)]
    drawn = bars(rows, width=2, unit=lambda x: f"{x:g}")
    assert drawn.splitlines() == ["a     ██ 8", "long  █▎ 5", "none  0", "tiny  ▏ 1e-09", "lost  n/a"]


def test_curves_have_logarithmic_scales_a_mark_where_they_cross_and_a_legend() -> None:
    lines = curves(TWO).splitlines()
    assert lines[0].lstrip().startswith("10 µs")
    assert lines[9].strip().startswith("100 ns")
    assert lines[11].split() == ["1", "100"]
    assert lines[12].split() == ["●", "flat", "○", "rising", "✕", "both"]
    rows = [line.partition("│")[2] for line in lines[:10]]
    assert [row.find("○") for row in rows] == [55, *[-1] * 8, 0]
    assert rows[4] == f"●{'':27}✕{'':26}●"


NAMES = {"svg": "http://www.w3.org/2000/svg"}


def parsed(drawing: str) -> ET.Element:
    return ET.fromstring(drawing)  # noqa: S314 - our own


def words(drawing: str) -> list[str]:
    return [each.text or "" for each in parsed(drawing).iterfind(".//svg:text", NAMES)]


def numbers(drawing: str, shape: str, css_class: str, *names: str) -> list[list[float]]:
    found = parsed(drawing).iterfind(f".//svg:{shape}[@class='{css_class}']", NAMES)
    return [[float(each.attrib[name]) for name in names] for each in found]


def said(drawing: str) -> tuple[str | None, str | None]:
    root = parsed(drawing)
    assert root.get("role") == "img"
    return root.findtext("svg:title", None, NAMES), root.findtext("svg:desc", None, NAMES)


def test_texts_are_escaped_and_attributes_have_their_svg_names() -> None:
    shape = svg.text(1, 2.506, "<&\x07>", font_size=12)
    assert shape == '<text x="1" y="2.51" class="words" font-size="12">&lt;&amp;\\x07&gt;</text>'
    assert said(svg.document(3, 2, [shape], title="a < b\x1b", description=" of <x> ")) == (r"a < b\x1b", "of <x>")


def test_a_histogram_has_a_bar_per_filled_bin_and_its_median_and_the_words_say_so() -> None:
    drawing = histogram_svg([0.0, 0.0, 4.0], title="t", unit=units.number)
    assert numbers(drawing, "rect", "bar", "x", "height") == [[24, 100], [445.2, 50]]
    assert said(drawing) == ("t", "3 samples from 0 to 4, median 0.")
    assert words(drawing) == ["0", "4", "2", "median 0"]
    assert len(numbers(histogram_svg([2.0, 2.0], title="t"), "rect", "bar")) == 1


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=60), st.lists(st.floats(1e-6, 1e6), max_size=4))
def test_a_histogram_of_any_ratios_stays_between_its_ends(values: list[float], tiers: list[float]) -> None:
    marks = [Mark(tier, f"tier {tier:.3g}", "tier") for tier in tiers]
    axis = Axis(min(*values, *tiers, 1.0), max(*values, *tiers, 1.0), 6, 304, log=True)
    band = (min(values), max(values))
    shapes = pictures.histogram(values, axis, bins=20, top=32, floor=104, unit=str, marks=marks, band=band)
    drawing = svg.document(310, 124, shapes, title="t")
    for kind in ("bar", "band"):
        for x, y, width, height in numbers(drawing, "rect", kind, "x", "y", "width", "height"):
            assert 5.9 <= x <= x + width <= 306
            assert 0 <= y <= y + height <= 104.1
    assert len(parsed(drawing).findall(".//svg:path[@class='tier']", NAMES)) == len(tiers)


def test_labels_of_marks_never_lie_on_each_other_and_a_long_label_keeps_both_of_its_ends() -> None:
    marks = [Mark(value, f"tier {value}×") for value in (2.0, 2.01, 2.02, 50.0)]
    labels = list(pictures.mark_labels(Axis(1.0, 100.0, 6, 304, log=True), marks, 9))
    assert words(svg.document(1, 1, labels, title="")) == ["tier 2.0×", "tier 50.0×"]
    assert [pictures.shortened(label, 11) for label in ("a" * 100 + "z", "short")] == ["aaaaa…aaaaz", "short"]


def test_bars_begin_at_zero_and_are_as_long_as_their_values_and_an_unknown_value_has_none() -> None:
    rows = [("add<int>(&\x00)", 200.0), ("less", -100.0), ("unknown", math.nan), ("none", 0.0)]
    drawing = bar_chart_svg(rows, title="Where they are", unit=units.count)
    (more, more_width), (less, less_width) = numbers(drawing, "rect", "s s0", "x", "width")
    assert more_width == pytest.approx(2 * less_width, abs=0.02)
    assert less + less_width == pytest.approx(more, abs=0.02)
    assert said(drawing) == ("Where they are", r"add<int>(&\x00): 200; less: -100; unknown: n/a; none: 0.")
    assert words(drawing)[1:3] == [r"add<int>(&\x00)", "200"]
    with pytest.raises(ValueError, match="one row or more"):
        bar_chart_svg([], title="Nothing")


def test_very_different_values_have_dots_on_a_logarithmic_axis_if_the_caller_allows_it() -> None:
    rows = [BarRow("a", (BarValue(1e-6, "1 µs"),)), BarRow("b", (BarValue(1.0, "1 s", (0.5, 2.0)),))]
    drawing = bar_rows_svg("Times", [""], rows, may_be_log=True)
    (first,), (second,) = numbers(drawing, "circle", "s s0", "cx")
    assert first < second
    assert words(drawing) == ["Times", "a", "1 µs", "b", "1 s", "Logarithmic axis: equal distances are equal factors."]
    assert drawing.count('class="end"') == 1


@pytest.mark.browser
@pytest.mark.long
def test_in_a_browser_a_picture_is_light_or_dark_and_every_text_is_inside(page: "Page", tmp_path: "Path") -> None:
    file = tmp_path / "picture.svg"
    file.write_text(bar_chart_svg([("a" * 200, 1.0), ("b", 1.0)], title="long " * 40), encoding="utf-8")
    page.goto(file.as_uri())
    ends = page.evaluate("[...document.querySelectorAll('text')].map((t) => t.getBBox().x + t.getBBox().width)")
    assert max(ends) <= 560
    for scheme, colours in {
        "light": ["rgb(255, 255, 255)", "rgb(34, 34, 34)", "rgb(31, 95, 153)"],
        "dark": ["rgb(20, 23, 28)", "rgb(232, 232, 232)", "rgb(125, 184, 245)"],
    }.items():
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type,unused-ignore]
        fills = "['.paper', '.words', '.s0'].map((s) => getComputedStyle(document.querySelector(s)).fill)"
        assert page.evaluate(fills) == colours
