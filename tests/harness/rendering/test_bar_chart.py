import math
from xml.etree import ElementTree as ET

import pytest

from harness.rendering.bar_chart import bar_chart_svg, shortened
from harness.rendering.units import count

SVG = "{http://www.w3.org/2000/svg}"


def drawn(rows: list[tuple[str, float]]) -> ET.Element:
    return ET.fromstring(bar_chart_svg(rows, title="Where they are", unit=count))  # noqa: S314 - our own


def test_every_row_has_its_words_and_its_value() -> None:
    chart = drawn([("at::add", 1200.0), ("malloc", 300.0)])
    said = chart.findtext(f"{SVG}desc")
    assert said == "at::add: 1 200; malloc: 300."
    assert chart.findtext(f"{SVG}title") == "Where they are"
    words = [text.text for text in chart.iter(f"{SVG}text")]
    assert {"at::add", "malloc", "1 200", "300"} <= set(words)


def test_bars_are_as_long_as_their_values_and_begin_at_zero() -> None:
    bars = list(drawn([("more", 200.0), ("less", -100.0)]).iter(f"{SVG}rect"))[1:]
    more, less = ({key: float(each.attrib[key]) for key in ("x", "width")} for each in bars)
    assert more["width"] == pytest.approx(2 * less["width"], rel=0.01)
    assert less["x"] + less["width"] == pytest.approx(more["x"], abs=0.2)


def test_a_value_that_is_not_known_has_no_bar() -> None:
    chart = drawn([("known", 1.0), ("unknown", math.nan), ("nothing", 0.0)])
    assert len(list(chart.iter(f"{SVG}rect"))) == 2
    assert "unknown: n/a" in (chart.findtext(f"{SVG}desc") or "")


def test_angle_brackets_are_escaped_and_control_characters_dropped() -> None:
    chart = drawn([("void at::f<int>(&\x00)", 1.0)])
    assert "void at::f<int>(&)" in {text.text for text in chart.iter(f"{SVG}text")}


def test_a_long_label_keeps_both_of_its_ends() -> None:
    assert shortened("a" * 100 + "z", 11) == "aaaaa…aaaaz"
    assert shortened("short", 11) == "short"


def test_no_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="one row or more"):
        bar_chart_svg([], title="Nothing")
