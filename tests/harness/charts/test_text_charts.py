"""Charts as terminal text."""

from math import inf, nan

import pytest

from harness.charts.plots import MARKS, bars, curves, histogram, sparkline
from harness.rendering.units import number

TWO = {"flat": [(1.0, 1e-6), (10.0, 1e-6), (100.0, 1e-6)], "rising": [(1.0, 1e-7), (10.0, 1e-6), (100.0, 1e-5)]}


def test_a_histogram_is_one_line_between_its_ends_where_one_outlier_of_thousands_still_shows() -> None:
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


def test_a_sparkline_goes_from_lowest_to_highest_and_leaves_gaps() -> None:
    shown = {(0.0, 1, 2, 3, 4, 5, 6, 7): "▁▂▃▄▅▆▇█", (0, nan, 7): "▁ █", (3, 3): "▁▁", (): ""}
    assert {values: sparkline(values) for values in shown} == shown


def test_bars_are_drawn_to_an_eighth_of_a_character() -> None:
    rows = [("a", 8.0), ("long", 5.0), ("none", 0.0), ("tiny", 1e-9), ("lost", nan)]
    shown = bars(rows, width=2, unit=lambda x: f"{x:g}")
    assert shown.splitlines() == ["a     ██ 8", "long  █▎ 5", "none  0", "tiny  ▏ 1e-09", "lost  n/a"]


def test_curves_have_logarithmic_scales_a_mark_where_they_cross_and_a_legend() -> None:
    lines = curves(TWO, width=21, height=5).splitlines()
    assert lines[0].lstrip().startswith("10 µs")
    assert lines[4].strip().startswith("100 ns")
    assert lines[6].split() == ["1", "100"]
    assert " ".join(lines[7:]).split() == ["●", "flat", "○", "rising", "✕", "both"]
    rows = [line.partition("│")[2] for line in lines[:5]]
    assert [row.find("○") for row in rows] == [20, -1, -1, -1, 0]
    assert rows[2] == "●         ✕         ●"


def test_a_long_legend_takes_several_lines_and_a_single_point_or_value_is_drawn() -> None:
    many = {f"a curve with a long name {number}": [(1.0, 1.0 + number)] for number in range(3)}
    lines = curves(many, width=40, height=3).splitlines()
    assert len(lines) == 3 + 2 + 3
    assert max(map(len, lines)) <= 40 + len("3 s │ ")
    assert curves({"one": [(5.0, 2.0)]}).count("●") == 2  # the point and the legend
    assert curves({"flat": [(1.0, 1.0), (2.0, 1.0)]}).count("●") == 3
