import itertools
import math

from harness.rendering import measured, units

VALUES = [
    mantissa * 10.0**exponent
    for mantissa in (1.0, 1.004, 1.96, 2.5, 4.43, 7.77, 9.94, 9.996)
    for exponent in range(-3, 5)
]
HALF_WIDTHS = (1e-6, 1e-4, 0.001, 0.0035, 0.0036, 0.01, 0.034, 0.0355, 0.09, 0.0951, 0.2, 0.35, 0.6, 0.99)
GRID = [(value, value * (1 - share), value * (1 + share)) for value, share in itertools.product(VALUES, HALF_WIDTHS)]
GRID += [
    (value, value * (1 - share / 3), value * (1 + share)) for value, share in itertools.product(VALUES, HALF_WIDTHS)
]


def read(text: str) -> float:
    return float(text.removesuffix(units.TIMES).replace(" ", ""))


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


def test_what_is_printed_agrees_with_what_was_measured() -> None:
    for value, low, high in GRID:
        agrees(value, low, high)


def agrees(value: float, low: float, high: float) -> None:
    printed, (bottom, top) = read(measured.ratio(value, low, high)), map(read, measured.interval(value, low, high))
    assert bottom <= low <= high <= top
    assert bottom <= printed <= top
    half = (high - low) / 2
    n_digits = measured.digits(value, low, high)
    if n_digits > 1:
        assert abs(printed - value) <= max(half / 5, 0.005 * value) * (1 + 1e-9)
    if n_digits < measured.MOST_DIGITS:
        assert 10 * abs(printed - value) <= max(10 * half, 5 * value)
        one_more = 10.0 ** (math.floor(math.log10(value)) - n_digits)
        assert half > 3 * one_more, "the interval allows one more digit"


def test_a_wider_interval_never_supports_more_digits() -> None:
    for value in VALUES:
        found = [measured.digits(value, value * (1 - share), value * (1 + share)) for share in HALF_WIDTHS]
        assert found == sorted(found, reverse=True), value


def test_the_unit_does_not_change_the_digits() -> None:
    for value, low, high in GRID:
        assert measured.digits(value, low, high) == measured.digits(value * 1000, low * 1000, high * 1000)


def test_what_is_not_a_number_is_said_as_everywhere() -> None:
    assert measured.ratio(math.nan, math.nan, math.nan) == units.UNKNOWN
    assert measured.interval(math.nan, math.nan, math.nan) == (units.UNKNOWN, units.UNKNOWN)
    assert measured.ratio(math.inf, 2.0, math.inf) == "∞×"
    assert measured.ratio(0.0, 0.0, 0.0) == "0×"
    assert {measured.digits(v, low, high) for v, low, high in GRID} == {1, 2, 3}
