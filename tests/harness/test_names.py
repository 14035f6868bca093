"""Which lesson a person means."""

import pytest

from harness.errors import UsageError
from harness.names import named

LESSONS = ("01_correct_first", "02_timeit_vs_timer", "10_memory", "11_torch_profiler")


@pytest.mark.parametrize(
    "given", ["2", "02", "002", "02_", "02_timeit", "timeit_vs_timer", "timeit", "02_timeit_vs_timer", "Timeit"]
)
def test_a_lesson_is_named_by_number_name_or_the_beginning_of_either(given: str) -> None:
    assert named(given, LESSONS) == "02_timeit_vs_timer"


def test_a_number_is_the_whole_number_and_not_how_one_begins() -> None:
    assert named("1", LESSONS) == "01_correct_first"
    with pytest.raises(UsageError, match=r"There is no lesson '12'\. There are: 01_correct_first"):
        named("12", LESSONS)


def test_what_can_mean_several_names_them_all() -> None:
    with pytest.raises(UsageError, match=r"'t' can mean 02_timeit_vs_timer or 11_torch_profiler; name one of them\."):
        named("t", LESSONS)


@pytest.mark.parametrize(("given", "meant"), [("timiet", "02_timeit_vs_timer"), ("10_memroy", "10_memory")])
def test_a_slip_of_the_pen_is_told_what_is_close(given: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"Did you mean {meant}"):
        named(given, LESSONS)


@pytest.mark.parametrize("given", ["", " ", "0", "-1", "zzz"])
def test_what_means_nothing_lists_what_there_is(given: str) -> None:
    with pytest.raises(UsageError, match="There are: 01_correct_first, 02_timeit_vs_timer"):
        named(given, LESSONS)
