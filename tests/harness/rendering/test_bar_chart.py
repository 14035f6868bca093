import math
from xml.etree import ElementTree as ET

import pytest

from harness.rendering.bar_chart import bar_chart_svg, shortened
from harness.rendering.units import count

SVG = "{http://www.w3.org/2000/svg}"


def drawn(rows: list[tuple[str, float]]) -> ET.Element:
    return ET.fromstring(bar_chart_svg(rows, title="Where they are", unit=count))  # noqa: S314 - our own


def test_every_row_has_its_escaped_words_and_its_value_and_an_unknown_value_has_no_bar() -> None:
    chart = drawn([("at::add<int>(&\x00)", 1200.0), ("unknown", math.nan), ("nothing", 0.0)])
    assert chart.findtext(f"{SVG}desc") == "at::add<int>(&): 1 200; unknown: n/a; nothing: 0."
    assert chart.findtext(f"{SVG}title") == "Where they are"
    words = [text.text for text in chart.iter(f"{SVG}text")]
    assert {"at::add<int>(&)", "unknown", "1 200", "n/a"} <= set(words)
    assert len(list(chart.iter(f"{SVG}rect"))) == 2


def test_bars_are_as_long_as_their_values_and_begin_at_zero() -> None:
    bars = list(drawn([("more", 200.0), ("less", -100.0)]).iter(f"{SVG}rect"))[1:]
    more, less = ({key: float(each.attrib[key]) for key in ("x", "width")} for each in bars)
    assert more["width"] == pytest.approx(2 * less["width"], rel=0.01)
    assert less["x"] + less["width"] == pytest.approx(more["x"], abs=0.2)


def test_a_long_label_keeps_both_of_its_ends_and_no_rows_are_refused() -> None:
    assert shortened("a" * 100 + "z", 11) == "aaaaa…aaaaz"
    assert shortened("short", 11) == "short"
    with pytest.raises(ValueError, match="one row or more"):
        bar_chart_svg([], title="Nothing")
