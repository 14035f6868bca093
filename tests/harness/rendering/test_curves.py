import math
import xml.etree.ElementTree as ET

import pytest

from harness.rendering import units
from harness.rendering.curves import MARKS, curves, curves_svg

TWO = {"flat": [(1.0, 1e-6), (10.0, 1e-6), (100.0, 1e-6)], "rising": [(1.0, 1e-7), (10.0, 1e-6), (100.0, 1e-5)]}


def test_a_plot_has_its_scales_its_curves_and_a_legend() -> None:
    lines = curves(TWO, width=30, height=5).splitlines()
    assert len(lines) == 5 + 3
    assert lines[0].lstrip().startswith("10 µs")
    assert lines[4].strip().startswith("100 ns")
    assert lines[-2].split() == ["1", "100"]
    assert lines[-1].split() == ["●", "flat", "○", "rising", "✕", "both"]


def test_equal_factors_are_equally_far_apart_and_a_crossing_is_marked() -> None:
    rows = [line.partition("│")[2] for line in curves(TWO, width=21, height=5).splitlines()[:5]]
    assert [row.find("○") for row in rows] == [20, -1, -1, -1, 0]
    assert rows[2] == "●         ✕         ●"


def test_a_long_legend_takes_several_lines() -> None:
    many = {f"a curve with a long name {number}": [(1.0, 1.0 + number)] for number in range(3)}
    lines = curves(many, width=40, height=3).splitlines()
    assert len(lines) == 3 + 2 + 3
    assert max(map(len, lines)) <= 40 + len("3 s │ ")


def test_curves_of_one_point_and_of_one_value_are_drawn() -> None:
    assert "●" in curves({"one": [(5.0, 2.0)]})
    assert curves({"flat": [(1.0, 1.0), (2.0, 1.0)]}).count("●") == 3  # two points and the legend


def test_points_that_a_logarithmic_scale_cannot_show_and_too_many_curves_are_refused() -> None:
    nothing: list[dict[str, list[tuple[float, float]]]] = [{}, {"none": []}]
    for series in [*nothing, *({"wrong": [point]} for point in [(0.0, 1.0), (1.0, -1.0), (1.0, math.inf)])]:
        with pytest.raises(ValueError, match="positive and finite"):
            curves(series)
        with pytest.raises(ValueError, match="positive and finite"):
            curves_svg(series, title="")
    with pytest.raises(ValueError, match="there are no more marks"):
        curves({str(number): [(1.0, 1.0)] for number in range(len(MARKS) + 1)})


def test_the_svg_has_a_description_and_escapes_its_texts() -> None:
    svg = curves_svg({"<b>": TWO["rising"]}, title="a & b", description="Time.", x_unit=units.count)
    root = ET.fromstring(svg)  # noqa: S314 - written by us a line ago
    name = {"svg": "http://www.w3.org/2000/svg"}
    assert root.findtext("svg:title", namespaces=name) == "a & b"
    assert root.findtext("svg:desc", namespaces=name) == "Time. <b>: 100 ns at 1, 10 µs at 100."
    assert root.attrib["role"] == "img"
    assert len(root.findall("svg:path", name)) == 2
