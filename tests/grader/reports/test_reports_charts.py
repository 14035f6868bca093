"""The small charts of pages, and their words for screen readers."""

import re

import pytest

from grader.reports import charts
from harness.charts.pictures import Mark


def places(chart: charts.Chart, shape: str, css_class: str) -> list[float]:
    return [float(x) for x in re.findall(rf'<{shape} x="([\d.]+)"[^>]*class="{css_class}"', chart.shapes)]


def test_the_words_hold_the_figures_for_those_who_do_not_see_them() -> None:
    chart = charts.histogram(
        [1.0, 2.0, 3.0, 4.0, 9.0], charts.linear_axis(0.0, 10.0), label="Points", marks=[Mark(3.0, "median")]
    )
    assert chart.label == "Points: 5 values from 1 to 9, median 3, half of them between 2 and 4. Marks: median."
    assert charts.describe([], str) == "no values."
    assert charts.describe([2.0, 2.0], str) == "2 values, all 2.0."
    assert "<title>9.50 to 10: 0</title>" not in chart.shapes
    assert "<title>9 to 9.50: 1</title>" in chart.shapes


def test_an_empty_or_constant_histogram_is_drawn() -> None:
    assert places(charts.histogram([], charts.linear_axis(0.0, 1.0), label="Nothing"), "rect", "bar") == []
    assert len(places(charts.histogram([3.0] * 5, charts.ratio_axis([3.0]), label="One"), "rect", "bar")) == 1


def test_the_ladder_shows_the_interval_among_the_tiers() -> None:
    chart = charts.ladder(3.0, 2.9, 3.1, [Mark(2.0, "tier 2×", "tier"), Mark(4.0, "tier 4×", "tier")], label="Three")
    (interval,), (middle,) = places(chart, "rect", "interval"), places(chart, "rect", "bar")
    low, high = (float(x) for x in re.findall(r'd="M([\d.]+)[^"]*" class="tier"', chart.shapes))
    assert low < interval < middle < high


def test_a_chart_over_time_has_a_box_and_a_median_for_each_interval() -> None:
    chart = charts.time_line(
        [(0.99, 1.0, 1.01), (1.0, 1.0, 1.0)],
        charts.linear_axis(0.9, 1.1),
        label="",
        begin="12:00",
        end="13:00",
        unit=str,
    )
    assert places(chart, "rect", "interval") == places(chart, "rect", "bar") == [6, 155]
    assert len(places(charts.columns([0, 2, 1], label="", begin="", end=""), "rect", "bar")) == 2


def test_the_bulk_leaves_out_what_lies_far_out_at_either_end() -> None:
    assert charts.central_range([-1e9, *range(1, 100), 1e9], share=0.02) == (2, 98)
    with pytest.raises(ValueError, match="At least one value"):
        charts.central_range([])
