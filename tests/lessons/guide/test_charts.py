"""Charts of the tables, bars and histograms that a recorded run contains as text."""

import pytest
from teachers_pack import parsed

from harness.rendering import plots, units
from lessons.guide.chart_axis import Axis
from lessons.guide.charts import MOST_ROWS, drawn, with_charts
from lessons.guide.results import Shown

TIMES = Shown(
    "Times of `f`",
    ("", "first", "median", "first ÷ median"),
    (("a", "4 s", "2 s", "2×"), ("b", "3 s", "", ""), ("c", "2 s", "1 s", "2×")),
)


def words(drawing: str) -> list[str]:
    return [each.text or "" for each in parsed(drawing).findall(".//{*}text")]


def described(drawing: str) -> str:
    return parsed(drawing).findtext("{*}desc") or ""


def test_the_columns_with_the_most_frequent_unit_are_drawn_with_their_recorded_texts() -> None:
    drawing = drawn(TIMES)
    assert words(drawing) == ["Times of f", "first", "median", "a", "4 s", "2 s", "b", "3 s", "c", "2 s", "1 s"]
    assert described(drawing) == "a: first 4 s, median 2 s; b: first 3 s; c: first 2 s, median 1 s."


def test_a_bar_is_as_long_as_its_value() -> None:
    rects = parsed(drawn(TIMES)).findall(".//{*}rect")
    bars = [float(each.get("width", "0")) for each in rects if each.get("height") == "11"]
    assert [round(bar / bars[0], 2) for bar in bars] == [1, 0.5, 0.75, 0.5, 0.25]


def test_the_columns_after_a_value_can_be_the_ends_of_its_interval() -> None:
    table = Shown("Ratios", ("", "ratio", "at least", "at most"), (("a", "2×", "1×", "3×"), ("b", "3×", "2×", "4×")))
    drawing = drawn(table)
    assert drawing.count('class="end"') == 2
    assert words(drawing) == ["Ratios", "a", "2×", "b", "3×"]


def test_a_table_without_words_has_its_first_column_as_labels() -> None:
    calls = Shown("Runs", ("calls", "time"), (("1", "2 s"), ("10", "3 s")))
    assert described(drawn(calls)) == "calls: 1: time 2 s; calls: 10: time 3 s."
    measured = Shown("Runs", ("median", "IQR"), (("1 s", "2 %"), ("2 s", "3 %")))
    assert described(drawn(measured)) == "row 1: median 1 s; row 2: median 2 s."


def test_very_different_values_have_a_logarithmic_axis_with_dots() -> None:
    drawing = drawn(Shown("Times", ("", "time"), (("a", "1 µs"), ("b", "1 s"))))
    assert len(parsed(drawing).findall(".//{*}circle")) == 2
    assert "Logarithmic axis" in words(drawing)[-1]
    axis = Axis.over([1.0, 10.0, 100.0], 0, 100)
    first, second, third = map(axis.place, (1.0, 10.0, 100.0))
    assert second - first == pytest.approx(third - second)


def test_negative_values_go_to_the_left_of_zero() -> None:
    axis = Axis.over([-1.0, 3.0], 0, 400)
    assert (axis.place(-1.0), axis.at_zero, axis.place(3.0)) == (0, 100, 400)
    assert drawn(Shown("Changes", ("", "change"), (("a", "-25 %"), ("b", "+54 %"))))


@pytest.mark.parametrize(
    "shown",
    [
        Shown("Words", ("", "answer"), (("a", "right"), ("b", "wrong"))),
        Shown("One row", ("", "time"), (("a", "1 s"),)),
        Shown("Long", ("", "time"), (("a", "1 s"),) * (MOST_ROWS + 1)),
        Shown("Different meanings", ("", "eps", "error"), (("a", "1", "2"), ("b", "2", "3"))),
        Shown("Codes", ("byte", "opcode"), (("0", "151"), ("2", "101"))),
        Shown("Text", text="a tree\n└ b"),
        Shown("Tokens", text="[d] [=] [a]"),
        Shown("Sparkline", text="250 MiB ▁▁▁█▁▁▆▁ 273 MiB"),
    ],
    ids=lambda shown: shown.title,
)
def test_what_has_no_comparable_numbers_is_not_drawn(shown: Shown) -> None:
    assert drawn(shown) == ""


def test_bars_that_were_printed_as_text_are_drawn() -> None:
    text = plots.bars([("counting", 5.17), ("with two words", 1.07), ("none", 0.0)], unit=units.ratio)
    drawing = drawn(Shown("Cost", text=text))
    assert words(drawing) == ["Cost", "counting", "5.17×", "with two words", "1.07×", "none", "0×"]


def test_a_histogram_that_was_printed_as_text_is_drawn() -> None:
    drawing = drawn(Shown("Samples", text=plots.histogram([1.0, 1.0, 1.0, 1.5, 2.0])))
    assert words(drawing) == ["Samples", "1 s", "2 s"]
    heights = [float(each.get("height", "0")) for each in parsed(drawing).findall(".//{*}rect[@class='s0']")]
    assert len(heights) == 3
    assert heights[0] == max(heights)


def test_what_a_drawing_of_the_lesson_shows_is_not_drawn_again() -> None:
    drawing = "<svg><title>Times of f</title></svg>"
    assert with_charts([drawing], [TIMES]) == (drawing,)
    assert with_charts([], [TIMES]) == (drawn(TIMES),)
