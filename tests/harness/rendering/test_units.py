from math import inf, nan

from harness.rendering.units import TIMES, count, number, percent, ratio, seconds, size


def test_a_duration_is_shown_in_a_fitting_unit_and_one_that_rounds_up_gets_the_next() -> None:
    texts = {
        1.07e-4: "107 µs",
        0.0149: "14.9 ms",
        3e-9: "3 ns",
        1e-13: "0.100 ps",
        999.4e-6: "999 µs",
        999.6e-6: "1.00 ms",
        59.9: "59.9 s",
        59.97: "1 min",
        218: "3 min 38 s",
        3599.7: "1 h",
        7500: "2 h 5 min",
        -3e-3: "-3 ms",
        -218: "-3 min 38 s",
        0: "0 s",
        inf: "∞ s",
        -inf: "-∞ s",
    }
    assert {value: seconds(value) for value in texts} == texts


def test_a_count_is_whole_with_spaces_between_thousands() -> None:
    texts = {2000: "2 000", 1248.4: "1 248", 999: "999", 0: "0", -12000: "-12 000", inf: "∞"}
    assert {value: count(value) for value in texts} == texts


def test_a_percentage_keeps_two_digits_and_no_trailing_zero() -> None:
    texts = {0.019: "1.9 %", 0.0006: "0.06 %", 1.46: "146 %", 0.5: "50 %", -0.031: "-3.1 %", 0: "0 %"}
    assert {value: percent(value) for value in texts} == texts


def test_a_ratio_has_three_digits_unless_it_is_whole() -> None:
    texts = {4.312: "4.31", 31.24: "31.2", 0.907: "0.907", 9.996: "10.0", 2345.6: "2 346", 8: "8", inf: "∞"}
    assert {value: ratio(value) for value in texts} == {value: text + TIMES for value, text in texts.items()}


def test_memory_is_shown_in_binary_units() -> None:
    texts = {
        512: "512 B",
        50_000_000: "47.7 MiB",
        2 << 20: "2 MiB",
        1023.9 * 1024: "1.00 MiB",
        1e18: "888 PiB",
        -5000: "-4.88 KiB",
        0: "0 B",
        inf: "∞ B",
    }
    assert {value: size(value) for value in texts} == texts


def test_an_unknown_number_is_shown_as_such_and_a_tiny_one_not_as_zero() -> None:
    assert {show(nan) for show in (seconds, count, percent, ratio, size)} == {"n/a"}
    assert number(1.5e-12) == "1.50e-12"
    assert percent(1e-12) == "1.0e-10 %"
