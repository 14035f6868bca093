"""Numbers with units, tables, charts as text and as SVG, the width of a terminal, names that a user types, errors."""

import math
import re
from io import StringIO
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from harness.charts import pictures, svg
from harness.charts.pictures import BarRow, BarValue, Mark, bar_chart_svg, bar_rows_svg, histogram_svg
from harness.charts.plots import Axis, bars, curves, histogram, sparkline
from harness.command_line import guarded, named
from harness.errors import UsageError
from harness.glossary import parse
from harness.rendering import measured, units
from harness.rendering.tables import Table
from harness.rendering.units import TIMES, count, deviation, number, percent, ratio, seconds, size
from harness.rendering.wrapping import say, wrapped

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

TWO = {"flat": [(1.0, 1e-6), (10.0, 1e-6), (100.0, 1e-6)], "rising": [(1.0, 1e-7), (10.0, 1e-6), (100.0, 1e-5)]}


def test_a_histogram_is_one_line_between_its_ends_where_one_outlier_of_thousands_still_shows() -> None:
    assert Axis(0.0, 10.0).counts([0, 4.9, 5, 10, 10, 99, nan], 2) == (2, 4)
    assert histogram([1e-4] * 8 + [1.3e-4] * 4 + [2e-4], bins=4) == "100 µs █▄ ▁ 200 µs"
    assert histogram([1.0] * 100_000 + [2.0], bins=3, unit=number) == "1 █ ▁ 2"
    assert histogram([2e-6, 2e-6]) == "2 µs █ 2 µs"


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


@given(st.lists(st.floats(), min_size=1, max_size=5), st.booleans())
def test_a_chart_of_any_numbers_has_only_finite_coordinates(values: list[float], may_be_log: bool) -> None:
    finite = [value for value in values if math.isfinite(value)] or [1.0]
    bars = [BarRow("<&\x00", (BarValue(value, "", (value, -value)),)) for value in values]
    for drawing in (histogram_svg(finite, title="t"), bar_rows_svg("t", ["s"], bars, may_be_log=may_be_log)):
        parsed(drawing)
        assert not re.search(r'="[^"]*(nan|inf)', drawing)
    assert len(sparkline(values)) == len(values)


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


def test_a_duration_is_shown_in_a_fitting_unit_and_one_that_rounds_up_gets_the_next() -> None:
    texts = {1.07e-4: "107 µs", 0.0149: "14.9 ms", 3e-9: "3 ns", 1e-13: "0.100 ps", 999.4e-6: "999 µs"}
    texts |= {999.6e-6: "1.00 ms", 59.9: "59.9 s", 59.97: "1 min", 218: "3 min 38 s", 3599.7: "1 h", 7500: "2 h 5 min"}
    texts |= {-3e-3: "-3 ms", -218: "-3 min 38 s", 0: "0 s", inf: "∞ s", -inf: "-∞ s"}
    assert {value: seconds(value) for value in texts} == texts


@pytest.mark.parametrize(
    ("got", "want", "said"),
    [
        (1.03, 1, "3 % too large"), (-0.97, -1, "3 % too small"), (12, 1, "12 times too large"),
        (1, 999.6, "1 000 times too small"), (1.0942e15, 1, "1.1e15 times too large"),
        (1e308, 1e-300, "over 1e308 times too large"), (1e-300, 1e308, "over 1e308 times too small"),
        (-3, 3, "the wrong sign"), (0, 3, "100 % too small"), (-3, 0, "off by 3"), (1e300, 0, "off by 1.00e300"),
        (math.inf, 1, "infinite instead of finite"), (1, -math.inf, "finite instead of infinite"),
        (math.inf, -math.inf, "the wrong sign"), (math.nan, 1, "NaN instead of a number"),
        (1, math.nan, "a number instead of NaN"),
    ],
)  # fmt: skip
def test_a_deviation_is_a_percentage_or_a_factor_from_tiny_to_huge(got: float, want: float, said: str) -> None:
    assert deviation(got, want) == said


@given(st.floats(), st.floats())
def test_a_deviation_of_any_two_numbers_is_short(got: float, want: float) -> None:
    assert 0 < len(deviation(got, want)) <= 40


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
    assert number(1.5e-12) == "1.50e-12"
    assert number(1.09423919750621840e17) == "1.09e17"
    assert percent(1e-12) == "1.0e-10 %"


def test_a_ratio_has_the_digits_that_its_interval_supports() -> None:
    for value, low, high, printed, ends in [
        (44.3, 34.9, 56.3, "44×", ("34×", "57×")),
        (4.312, 4.26, 4.36, "4.31×", ("4.26×", "4.36×")),
        (4.312, 4.1, 4.6, "4.31×", ("4.10×", "4.60×")),
        (4.312, 3.9, 4.7, "4.3×", ("3.9×", "4.7×")),
        (1.96, 1.5, 2.6, "2.0×", ("1.5×", "2.6×")),
        (1.961, 1.91, 2.03, "1.96×", ("1.91×", "2.03×")),
        (12.34, 12.1, 12.6, "12.3×", ("12.1×", "12.6×")),
        (1234.0, 1111.0, 1333.0, "1 230×", ("1 110×", "1 340×")),
        (2.1, 0.5, 9.0, "2×", ("0.5×", "9×")),
        (99.6, 89.0, 108.0, "100×", ("89×", "108×")),
        (3.0, 0.0, 9.0, "3×", ("0×", "9×")),
        (3.2, 1.0, math.inf, "3×", ("1×", "∞×")),
        (12.3456, 12.3456, 12.3456, "12.3×", ("12.3×", "12.3×")),
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
    assert Table.of("", {"a": None, "b": None}, ()).to_text() == "a  b\n─  ─"
    with pytest.raises(ValueError, match="zip"):
        Table.of("t", {"a": None, "b": None}, [("only one",)])


def test_a_terminal_shows_markup_in_cells_as_text() -> None:
    console = Console(file=StringIO(), width=60)
    console.print(Table.of("[b]", {"[i]": None, "t": seconds}, [("[red]x[/red]", 0.25)]))
    assert isinstance(console.file, StringIO)
    shown = console.file.getvalue()
    for text in ("[b]", "[i]", "[red]x[/red]", "250 ms"):
        assert text in shown


SENTENCE = "A block need only be long enough for the clock, and no longer than that, since it meets more disturbances."


def test_an_indent_is_kept_no_word_is_lost_and_a_terminal_gets_the_text_without_colours() -> None:
    lines = list(wrapped(f"  {SENTENCE}", 40, indent=3))
    assert all(line.startswith("     ") and len(line) <= 40 for line in lines)
    assert " ".join(line.strip() for line in lines) == SENTENCE
    assert list(wrapped(SENTENCE, None, indent=3)) == [f"   {SENTENCE}"]
    screen = StringIO()
    say(Console(file=screen, force_terminal=True, width=200), "4 of 'ten' calls [bold] took 0.5 s")
    assert screen.getvalue() == "4 of 'ten' calls [bold] took 0.5 s\n"


LESSONS = ("01_correct_first", "02_timeit_vs_timer", "10_memory", "11_torch_profiler")


def test_a_lesson_is_named_by_number_name_or_the_beginning_of_either() -> None:
    ways = ("2", "02", "002", "02_", "02_timeit", "timeit_vs_timer", "timeit", "02_timeit_vs_timer", "Timeit")
    assert {way: named(way, LESSONS) for way in ways} == dict.fromkeys(ways, "02_timeit_vs_timer")

    assert named("1", LESSONS) == "01_correct_first"


def test_the_error_names_several_matches_or_similar_names_or_all_names() -> None:
    errors = {
        "t": "'t' can mean 02_timeit_vs_timer or 11_torch_profiler",
        "timiet": "Did you mean 02_timeit_vs_timer",
        "10_memroy": "Did you mean 10_memory",
        "12": r"There is no lesson '12'\. There are: 01_correct_first",
    }
    errors |= dict.fromkeys(("", " ", "0", "-1", "zzz"), "There are: 01_correct_first, 02_timeit_vs_timer")
    for typed, said in errors.items():
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


GLOSSARY = parse("""
"A/A comparison" = {meaning = "Code against itself."}
cache = {meaning = "A store."}
"no-op call" = {meaning = "It does nothing.", also = ["null call"], lesson = "04_autorange", see = ["overhead"]}
overhead = {meaning = "Time for anything but the work."}
process = {meaning = "A running program.", also = ["memory"]}
""")


def test_a_term_is_found_in_any_spelling() -> None:
    found = {"OVERHEADS": "overhead", "no op  calls": "no-op call", "Null-Call": "no-op call", "Processes": "process"}
    found |= {"memories": "process", "a/a Comparisons": "A/A comparison"}
    assert {given: GLOSSARY.find(given).name for given in found} == found
    everything = "fairclock lessons glossary lists all terms"
    for typed, said in {"overhad": "close terms are: overhead", "call": "no-op call", "…": everything}.items():
        with pytest.raises(UsageError, match=said):
            GLOSSARY.find(typed)
    used = GLOSSARY.used_in("Null calls measure the Overhead. A cached value is something else, and so is cachet.")
    assert [term.name for term in used] == ["no-op call", "overhead"]
    assert GLOSSARY.used_in("") == ()
