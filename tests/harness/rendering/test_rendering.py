"""Numbers with units, tables, charts as text and as SVG, the width of a terminal, names that a user types, errors."""

import math
import re
from io import StringIO
from math import inf, nan
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from harness.charts import svg
from harness.charts.pictures import BarRow, BarValue, bar_chart_svg, bar_rows_svg, histogram_svg
from harness.charts.plots import Axis, histogram, sparkline
from harness.command_line import guarded, named
from harness.errors import UsageError
from harness.rendering import measured, units
from harness.rendering.tables import Table
from harness.rendering.units import TIMES, count, deviation, number, percent, ratio, seconds, size
from harness.rendering.wrapping import say, wrapped


def test_a_histogram_is_one_line_between_its_ends_where_one_outlier_of_thousands_still_shows() -> None:
    assert Axis(0.0, 10.0).counts([0, 4.9, 5, 10, 10, 99, nan], 2) == (2, 4)
    assert histogram([1e-4] * 8 + [1.3e-4] * 4 + [2e-4], bins=4) == "100 µs █▄ ▁ 200 µs"
    assert histogram([1.0] * 100_000 + [2.0], bins=3, unit=number) == "1 █ ▁ 2"


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


def test_texts_are_escaped() -> None:
    shape = svg.text(1, 2.506, "<&\x07>", font_size=12)
    assert shape == '<text x="1" y="2.51" class="words" font-size="12">&lt;&amp;\\x07&gt;</text>'
    assert said(svg.document(3, 2, [shape], title="a < b\x1b", description=" of <x> ")) == (r"a < b\x1b", "of <x>")
    console = Console(file=StringIO(), width=60)
    console.print(Table.of("[b]", {"[i]": None, "t": seconds}, [("[red]x[/red]", 0.25)]))
    assert isinstance(console.file, StringIO)
    assert all(text in console.file.getvalue() for text in ("[b]", "[i]", "[red]x[/red]", "250 ms"))


def test_a_histogram_has_a_bar_per_filled_bin_and_its_median_and_the_words_say_so() -> None:
    drawing = histogram_svg([0.0, 0.0, 4.0], title="t", unit=units.number)
    assert numbers(drawing, "rect", "bar", "x", "height") == [[24, 100], [445.2, 50]]
    assert said(drawing) == ("t", "3 samples from 0 to 4, median 0.")


@given(st.lists(st.floats(), min_size=1, max_size=5), st.booleans())
def test_a_chart_of_any_numbers_has_only_finite_coordinates(values: list[float], may_be_log: bool) -> None:
    finite = [value for value in values if math.isfinite(value)] or [1.0]
    bars = [BarRow("<&\x00", (BarValue(value, "", (value, -value)),)) for value in values]
    for drawing in (histogram_svg(finite, title="t"), bar_rows_svg("t", ["s"], bars, may_be_log=may_be_log)):
        parsed(drawing)
        assert not re.search(r'="[^"]*(nan|inf)', drawing)
    assert len(sparkline(values)) == len(values)


def test_bars_begin_at_zero_and_are_as_long_as_their_values_and_an_unknown_value_has_none() -> None:
    rows = [("add<int>(&\x00)", 200.0), ("less", -100.0), ("unknown", math.nan), ("none", 0.0)]
    drawing = bar_chart_svg(rows, title="Where they are", unit=units.count)
    (more, more_width), (less, less_width) = numbers(drawing, "rect", "s s0", "x", "width")
    assert more_width == pytest.approx(2 * less_width, abs=0.02)
    assert less + less_width == pytest.approx(more, abs=0.02)
    assert said(drawing) == ("Where they are", r"add<int>(&\x00): 200; less: -100; unknown: n/a; none: 0.")


def test_a_duration_is_shown_in_a_fitting_unit_and_one_that_rounds_up_gets_the_next() -> None:
    texts = {1.07e-4: "107 µs", 0.0149: "14.9 ms", 3e-9: "3 ns", 1e-13: "0.100 ps", 999.4e-6: "999 µs"}
    texts |= {999.6e-6: "1.00 ms", 59.9: "59.9 s", 59.97: "1 min", 218: "3 min 38 s", 3599.7: "1 h", 7500: "2 h 5 min"}
    texts |= {-3e-3: "-3 ms", -218: "-3 min 38 s", 0: "0 s", inf: "∞ s", -inf: "-∞ s"}
    assert {value: seconds(value) for value in texts} == texts


def test_a_deviation_is_a_percentage_or_a_factor_from_tiny_to_huge() -> None:
    texts = {
        (1.03, 1): "3 % too large", (-0.97, -1): "3 % too small", (1, 999.6): "1 000 times too small",
        (1e308, 1e-300): "over 1e308 times too large", (1e-300, 1e308): "over 1e308 times too small",
        (-3, 3): "the wrong sign", (0, 3): "100 % too small", (-3, 0): "off by 3",
        (inf, 1): "infinite instead of finite", (inf, -inf): "the wrong sign", (1, nan): "a number instead of NaN",
    }  # fmt: skip
    assert {numbers: deviation(*numbers) for numbers in texts} == texts


def test_counts_percentages_ratios_and_sizes_have_their_digits_and_units() -> None:
    texts = {2000: "2 000", 1248.4: "1 248", 999: "999", 0: "0", -12000: "-12 000", inf: "∞"}
    assert {value: count(value) for value in texts} == texts
    texts = {0.019: "1.9 %", 0.0006: "0.06 %", 1.46: "146 %", 0.5: "50 %", -0.031: "-3.1 %", 0: "0 %"}
    assert {value: percent(value) for value in texts} == texts
    texts = {4.312: "4.31", 31.24: "31.2", 0.907: "0.907", 9.996: "10.0", 2345.6: "2 346", 8: "8", inf: "∞"}
    assert {value: ratio(value) for value in texts} == {value: text + TIMES for value, text in texts.items()}
    texts = {512: "512 B", 5e7: "47.7 MiB", 2 << 20: "2 MiB", 1023.9 * 1024: "1.00 MiB", 1e18: "888 PiB", inf: "∞ B"}
    assert {value: size(value) for value in texts} == texts
    assert {show(nan) for show in (seconds, count, percent, ratio, size)} == {"n/a"}


def test_a_ratio_has_the_digits_that_its_interval_supports() -> None:
    for value, low, high, printed, ends in [
        (44.3, 34.9, 56.3, "44×", ("34×", "57×")),
        (4.312, 4.1, 4.6, "4.31×", ("4.10×", "4.60×")),
        (1234.0, 1111.0, 1333.0, "1 230×", ("1 110×", "1 340×")),
        (3.0, 0.0, 9.0, "3×", ("0×", "9×")),
        (3.2, 1.0, math.inf, "3×", ("1×", "∞×")),
        (2.0, 2.0, 2.0, "2×", ("2×", "2×")),
    ]:
        assert (measured.ratio(value, low, high), measured.interval(value, low, high)) == (printed, ends)
    assert (measured.ratio(nan, nan, nan), measured.ratio(inf, 2.0, inf)) == ("n/a", "∞×")


@given(st.floats(1e-3, 1e5), st.floats(1e-6, 0.99), st.floats(0.1, 1.0))
def test_what_is_printed_agrees_with_what_was_measured(value: float, share: float, skew: float) -> None:
    def read(text: str) -> float:
        return float(text.removesuffix(TIMES).replace(" ", ""))

    low, high = value * (1 - share * skew), value * (1 + share)
    printed, (bottom, top) = read(measured.ratio(value, low, high)), map(read, measured.interval(value, low, high))
    assert bottom <= low <= high <= top
    assert bottom <= printed <= top
    assert abs(printed - value) <= max((high - low) / 2, 0.005 * value) * (1 + 1e-9)


def test_plain_text_is_aligned_and_rounded() -> None:
    rows = [("mul-sum", 1.07e-4, None), ("bmm", 3e-6, 35.67)]
    table = Table.of("Two ways", {"what": None, "median": seconds, "gain": ratio}, rows)
    assert table.to_text().replace(TIMES, "*").splitlines() == [
        "Two ways",
        "what     median   gain",
        "───────  ──────  ─────",
        "mul-sum  107 µs",
        "bmm        3 µs  35.7*",
    ]
    # A wide character takes two columns.
    table = Table.of("", {"name": None, "n": None}, [("日本", 1.0), ("abcd", 2.0)])
    assert table.to_text().splitlines() == ["name  n", "────  ─", "日本  1", "abcd  2"]


SENTENCE = "A block need only be long enough for the clock, and no longer than that, since it meets more disturbances."


def test_an_indent_is_kept_no_word_is_lost_and_a_terminal_gets_the_text_without_colours() -> None:
    lines = list(wrapped(f"  {SENTENCE}", 40, indent=3))
    assert all(line.startswith("     ") and len(line) <= 40 for line in lines)
    assert " ".join(line.strip() for line in lines) == SENTENCE
    screen = StringIO()
    say(Console(file=screen, force_terminal=True, width=200), "4 of 'ten' calls [bold] took 0.5 s")
    assert screen.getvalue() == "4 of 'ten' calls [bold] took 0.5 s\n"


LESSONS = ("01_correct_first", "02_timeit_vs_timer", "10_memory", "11_torch_profiler")


def test_a_lesson_is_named_by_number_name_or_the_beginning_of_either() -> None:
    ways = ("2", "02", "002", "02_", "02_timeit", "timeit_vs_timer", "timeit", "02_timeit_vs_timer", "Timeit")
    assert {way: named(way, LESSONS) for way in ways} == dict.fromkeys(ways, "02_timeit_vs_timer")
    errors = {"t": "'t' can mean 02_timeit_vs_timer or 11_torch_profiler", "timiet": "Did you mean 02_timeit_vs_timer"}
    for typed, said in {**errors, "": "There are: 01_correct_first, 02_", "-1": "There are: 01_correct"}.items():
        with pytest.raises(UsageError, match=said):
            named(typed, LESSONS)


def test_an_internal_error_names_the_file_and_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    app = typer.Typer()

    @app.command()
    def fails() -> None:
        raise AttributeError("no such attribute")

    line = fails.__code__.co_firstlineno + 2
    assert guarded(app, "python -m grader", []) == 1
    place = f"{Path(__file__).name}, line {line}"
    said = f"Internal error in python -m grader: no such attribute ({place}). Run it with --debug"
    assert capsys.readouterr().err.startswith(said)
