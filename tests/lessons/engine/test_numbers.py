"""Tests of the numbers that a student may type as an answer."""

import pytest

from lessons.engine.numbers import positive


@pytest.mark.parametrize(
    ("typed", "unit", "value"),
    [
        ("1,5 million calls", "calls", 1.5e6),
        ("2M", "elements", 2e6),
        ("60 k calls", "calls", 60_000),
        ("2.5e3", "calls", 2500),
        ("1,000", "calls", 1000),
        ("1'000'000", "calls", 1e6),
        ("about 300", "events", 300),
        ("~3", "times", 3),
        ("3 ×", "times", 3),
        ("1 call", "calls", 1),
        ("3 ms", "µs", 3000),
        ("0,5 seconds", "ms", 500),
        ("50%", "times", 0.5),
        ("50 %", "%", 50),
    ],
)
def test_numbers_are_read_as_students_write_them(typed: str, unit: str, value: float) -> None:
    assert positive(typed, unit) == pytest.approx(value)


@pytest.mark.parametrize(
    ("typed", "unit"),
    [
        ("5 apples", "calls"),
        ("3 ms", "calls"),
        ("50 %", "calls"),
        ("1m", "ms"),
        ("-3", ""),
        ("0", ""),
        ("1e999", ""),
        ("1.2.3", ""),
        ("k", "calls"),
        ("", ""),
    ],
)
def test_text_that_is_not_a_number_of_the_unit_is_not_read(typed: str, unit: str) -> None:
    assert positive(typed, unit) is None
