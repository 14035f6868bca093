import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.reports import charts
from grader.reports.charts import Axis, Mark

RATIOS = st.floats(1e-6, 1e6)


def test_values_lie_from_left_to_right_and_what_is_beyond_stands_at_the_end() -> None:
    axis = Axis(0.0, 10.0)
    assert [axis.share(value) for value in (-5, 0, 2.5, 10, 99)] == [0, 0, 0.25, 1, 1]
    assert (axis.x(0), axis.x(10)) == (charts.LEFT, charts.RIGHT)


def test_on_a_log_axis_equal_factors_are_equal_steps() -> None:
    axis = Axis(1.0, 16.0, log=True)
    assert [axis.share(value) for value in (1, 2, 4, 8, 16)] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert axis.edge(0.5) == pytest.approx(4)


def test_every_value_is_counted_once_and_full_marks_belong_to_the_last_part() -> None:
    assert charts.count_in_bins([0, 4.9, 5, 10, 10], Axis(0.0, 10.0), 2) == (2, 3)
    assert charts.count_in_bins([math.nan, 3.0], Axis(0.0, 10.0), 2) == (1, 0)
    assert charts.count_in_bins([0.0, math.inf, 2.0], Axis(1.0, 4.0, log=True), 2) == (1, 2)


@given(st.lists(RATIOS, min_size=1, max_size=60), st.lists(RATIOS, max_size=4))
def test_a_histogram_of_any_ratios_stays_on_its_paper(values: list[float], tiers: list[float]) -> None:
    marks = [Mark(tier, f"tier {tier:.3g}", "tier") for tier in tiers]
    axis = charts.ratio_axis(values, tiers)
    chart = charts.histogram(values, axis, label="Ratios", marks=marks, band=(min(values), max(values)))
    for box in chart.boxes:
        assert 0 <= box.x <= box.x + box.width <= charts.WIDTH
        assert 0 <= box.y <= box.y + box.height <= charts.FLOOR + 0.2
    for word in chart.labels:
        assert 0 <= word.x <= charts.WIDTH
        assert 0 < word.y <= charts.HEIGHT
    assert sum(charts.count_in_bins(values, axis, 20)) == len(values)


def test_labels_of_marks_never_lie_on_each_other() -> None:
    marks = [Mark(value, f"tier {value}×", "tier") for value in (2.0, 2.01, 2.02, 50.0)]
    chart = charts.histogram([1.0, 100.0], Axis(1.0, 100.0, log=True), label="Ratios", marks=marks)
    told = [word.text for word in chart.labels if word.text.startswith("tier")]
    assert told == ["tier 2.0×", "tier 50.0×"]
    assert len(chart.lines) == 1 + 4, "each mark has a line, also without a label"


def test_the_words_hold_the_figures_for_those_who_do_not_see_them() -> None:
    chart = charts.histogram([1.0, 2.0, 3.0, 4.0, 9.0], Axis(0.0, 10.0), label="Points", marks=[Mark(3.0, "median")])
    assert chart.label == "Points: 5 values from 1 to 9, median 3, half of them between 2 and 4. Marks: median."
    assert charts.describe([], str) == "no values."
    assert charts.describe([2.0, 2.0], str) == "2 values, all 2.0."


def test_an_empty_or_constant_histogram_is_drawn() -> None:
    assert charts.histogram([], Axis(0.0, 1.0), label="Nothing").boxes == ()
    assert len(charts.histogram([3.0] * 5, charts.ratio_axis([3.0]), label="One").boxes) == 1


def test_the_ladder_shows_the_interval_among_the_tiers() -> None:
    chart = charts.ladder(3.0, 2.9, 3.1, [Mark(2.0, "tier 2×"), Mark(4.0, "tier 4×")], label="Three")
    interval, middle = chart.boxes
    assert interval.x < middle.x + middle.width / 2 < interval.x + interval.width
    assert chart.lines[1].x < interval.x < chart.lines[2].x


def test_a_course_leaves_stretches_without_a_value_empty() -> None:
    spans = [(0.99, 1.0, 1.01), None, (1.0, 1.0, 1.0)]
    chart = charts.time_line(spans, Axis(0.9, 1.1), label="Course", begin="12:00", end="13:00", unit=str)
    assert len(chart.boxes) == 4


def test_the_bulk_leaves_out_what_lies_far_out_at_either_end() -> None:
    assert charts.central_range([-1e9, *range(1, 100), 1e9], share=0.02) == (2, 98)
    with pytest.raises(ValueError, match="At least one value"):
        charts.central_range([])
