"""Charts of recorded tables and texts, the chart of a lesson's claims, and pictures in pages."""

from dataclasses import replace

import pytest
from teachers_pack import RESULTS, parsed, small_page

from harness.charts import plots
from harness.rendering import units
from lessons.guide.chart_values import NUMBER, PERCENT, RATIO, SIZE, TIME, read
from lessons.guide.charts import MOST_ROWS, drawn, with_charts
from lessons.guide.pictures import MOST_FACTOR, claim_chart
from lessons.guide.results import ClaimResult, Shown

TIMES = Shown(
    "Times of `f`",
    ("", "first", "median", "first ÷ median"),
    (("a", "4 s", "2 s", "2×"), ("b", "3 s", "", ""), ("c", "2 s", "1 s", "2×")),
)


def words(drawing: str) -> list[str]:
    return [each.text or "" for each in parsed(drawing).findall(".//{*}text")]


def described(drawing: str) -> str:
    return parsed(drawing).findtext("{*}desc") or ""


def test_only_a_value_with_its_unit_is_read() -> None:
    for text, value, kind in (
        ("8.30 µs", 8.30e-6, TIME),
        ("1 000", 1000, NUMBER),
        ("-0.59 %", -0.0059, PERCENT),
        ("32.2×", 32.2, RATIO),
        ("47.7 MiB", 47.7 * 1024**2, SIZE),
        ("7.8e-03", 7.8e-3, NUMBER),
    ):
        found = read(text)
        assert found
        assert found.kind == kind
        assert found.value == pytest.approx(value)
    texts = ("", "right", "±0.33 %", "3193/1", "0.612× and 0.625×", "2 to 3", "12 apples")
    assert [text for text in texts if read(text)] == []


def test_the_columns_with_the_most_frequent_unit_are_drawn_to_scale_with_their_recorded_texts() -> None:
    drawing = drawn(TIMES)
    assert words(drawing) == ["Times of f", "first", "median", "a", "4 s", "2 s", "b", "3 s", "c", "2 s", "1 s"]
    assert described(drawing) == "a: first 4 s, median 2 s; b: first 3 s; c: first 2 s, median 1 s."
    rects = parsed(drawing).findall(".//{*}rect")
    bars = [float(each.get("width", "0")) for each in rects if each.get("height") == "11"]
    assert [round(bar / bars[0], 2) for bar in bars] == [1, 0.5, 0.75, 0.5, 0.25]
    own = "<svg><title>Times of f</title></svg>"
    assert with_charts([own], [TIMES]) == (own,), "the lesson has drawn this table"
    assert with_charts([], [TIMES]) == (drawing,)


def test_what_has_no_comparable_numbers_is_not_drawn() -> None:
    for shown in (
        Shown("Words", ("", "answer"), (("a", "right"), ("b", "wrong"))),
        Shown("One row", ("", "time"), (("a", "1 s"),)),
        Shown("Long", ("", "time"), (("a", "1 s"),) * (MOST_ROWS + 1)),
        Shown("Different meanings", ("", "eps", "error"), (("a", "1", "2"), ("b", "2", "3"))),
        Shown("Codes", ("byte", "opcode"), (("0", "151"), ("2", "101"))),
        Shown("Text", text="a tree\n└ b"),
        Shown("Sparkline", text="250 MiB ▁▁▁█▁▁▆▁ 273 MiB"),
    ):
        assert drawn(shown) == "", shown.title


def test_bars_and_histograms_that_were_printed_as_text_are_drawn() -> None:
    text = plots.bars([("counting", 5.17), ("with two words", 1.07), ("none", 0.0)], unit=units.ratio)
    bars = drawn(Shown("Cost", text=text))
    assert words(bars) == ["Cost", "counting", "5.17×", "with two words", "1.07×", "none", "0×"]
    drawing = drawn(Shown("Samples", text=plots.histogram([1.0, 1.0, 1.0, 1.5, 2.0])))
    assert words(drawing) == ["Samples", "1 s", "2 s"]
    heights = [float(each.get("height", "0")) for each in parsed(drawing).findall(".//{*}rect[@class='bar']")]
    assert len(heights) == 3
    assert heights[0] == max(heights)


def result(
    measured: float | None, low: float | None = None, high: float | None = None, ends: tuple[float, float] | None = None
) -> ClaimResult:
    return ClaimResult("held", "", "", measured, low, high, ends)


def chart_of(claim: ClaimResult) -> str:
    return claim_chart(small_page(replace(RESULTS, claims={"twice-is-two": claim})))


def test_the_chart_of_claims_has_a_dot_for_each_margin_and_a_wide_line_for_an_interval() -> None:
    drawing = claim_chart(small_page())
    assert len(parsed(drawing).findall(".//{*}circle")) == 1
    assert "twice one is two: 1× (held)" in described(drawing)
    assert 'class="interval"' not in drawing
    assert chart_of(result(None, low=2.0, ends=(3.0, 8.0))).count('class="interval"') == 1
    assert claim_chart(small_page(None)) == ""
    largest, larger = (chart_of(result(2 * factor, low=2.0)) for factor in (MOST_FACTOR, 1e6))
    places = {tuple(each.items()) for chart in (largest, larger) for each in parsed(chart).findall(".//{*}circle")}
    assert len(places) == 1, "a very large margin does not move the other dots together"
    assert words(larger)[-1] == "1 000 000×"
