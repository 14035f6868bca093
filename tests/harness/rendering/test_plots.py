from math import inf, nan
from xml.etree import ElementTree as ET

import pytest

from harness.rendering.plots import Bins, bars, binned, histogram, histogram_svg, sparkline
from harness.rendering.units import number

SVG = "{http://www.w3.org/2000/svg}"


def test_every_sample_falls_into_one_bin_and_the_highest_into_the_last() -> None:
    assert binned([0, 1, 2, 3, 4], 4) == Bins(0, 4, (1, 1, 1, 2))
    assert binned([2.0, 2.0], 10) == Bins(2.0, 2.0, (2,))


def test_a_histogram_is_one_line_between_its_ends_where_one_outlier_of_thousands_still_shows() -> None:
    assert histogram([1e-4] * 8 + [1.3e-4] * 4 + [2e-4], bins=4) == "100 µs █▄ ▁ 200 µs"
    assert histogram([1.0] * 100_000 + [2.0], bins=3, unit=number) == "1 █ ▁ 2"
    assert histogram([2e-6, 2e-6]) == "2 µs █ 2 µs"


def test_a_histogram_without_finite_samples_or_bins_and_a_negative_bar_are_refused() -> None:
    for samples in ([], [nan], [1.0, inf]):
        with pytest.raises(ValueError, match="all finite"):
            histogram(samples)
    with pytest.raises(ValueError, match="one bin or more"):
        histogram([1.0, 2.0], bins=0)
    with pytest.raises(ValueError, match="negative"):
        bars([("a", -1.0)])


def test_a_sparkline_goes_from_lowest_to_highest_and_leaves_gaps() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█"
    assert sparkline([0, nan, 7]) == "▁ █"
    assert sparkline([3, 3]) == "▁▁"
    assert sparkline([]) == ""


def test_bars_are_drawn_to_an_eighth_of_a_character() -> None:
    text = bars(
        [("a", 8.0), ("long", 5.0), ("none", 0.0), ("tiny", 1e-9), ("lost", nan)],
        width=2,
        unit=lambda x: f"{x:g}",
    )
    assert text.splitlines() == ["a     ██ 8", "long  █▎ 5", "none  0", "tiny  ▏ 1e-09", "lost  n/a"]


def test_the_picture_has_an_escaped_title_and_a_description() -> None:
    title = '<b>O\'Neil</b> & "co" =1+1\x00\x1b'
    svg = ET.fromstring(histogram_svg([1e-4, 1e-4, 2e-4], title=title, description="Blocks of 9."))  # noqa: S314
    assert svg.get("role") == "img"
    assert svg.findtext(f"{SVG}title") == '<b>O\'Neil</b> & "co" =1+1'
    assert svg.findtext(f"{SVG}desc") == "Blocks of 9. 3 samples from 100 µs to 200 µs, median 100 µs."


def test_the_picture_has_one_bar_per_filled_bin_within_its_frame_and_the_tallest_reaches_the_top() -> None:
    svg = ET.fromstring(histogram_svg([0.0, 0.0, 4.0], title="t", bins=4, unit=number))  # noqa: S314
    background, *drawn = svg.iter(f"{SVG}rect")
    assert [float(bar.get("height", "")) for bar in drawn] == [112.0, 56.0]
    assert [float(bar.get("x", "")) for bar in drawn] == [24.0, 348.0]
    assert background.get("width") == "480"
    for samples in ([1.0], [1.0, 1.0, 1.0, 9.0]):
        for bar in ET.fromstring(histogram_svg(samples, title="t")).iter(f"{SVG}rect"):  # noqa: S314
            assert 0 <= float(bar.get("x", "0")) <= 480 - float(bar.get("width", "")) + 0.1
            assert 0 <= float(bar.get("y", "0")) <= 160 - float(bar.get("height", "")) + 0.1
