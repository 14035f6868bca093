"""Measured values are read back from recorded texts, but only if they can be read with certainty."""

import math

import pytest

from harness.rendering import units
from lessons.engine.claim import Claim
from lessons.guide.readings import NUMBER, PERCENT, RATIO, SIZE, TIME, Reading, completed, read
from lessons.guide.results import ClaimResult


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("8.30 µs", Reading(8.30e-6, TIME)),
        ("1 000", Reading(1000, NUMBER)),
        ("+11 %", Reading(0.11, PERCENT)),
        ("-0.59 %", Reading(-0.0059, PERCENT)),
        ("32.2×", Reading(32.2, RATIO)),
        ("47.7 MiB", Reading(47.7 * 1024**2, SIZE)),
        ("7.8e-03", Reading(7.8e-3, NUMBER)),
    ],
)
def test_a_value_with_its_unit_is_read(text: str, reading: Reading) -> None:
    found = read(text)
    assert found is not None
    assert found.kind == reading.kind
    assert found.value == pytest.approx(reading.value)


@pytest.mark.parametrize("text", ["", "right", "±0.33 %", "3193/1", "0.612× and 0.625×", "2 to 3", "12 apples"])
def test_another_text_is_not_read(text: str) -> None:
    assert read(text) is None


def claim(at_least: float = -math.inf, at_most: float = math.inf) -> Claim:
    return Claim("fast", "it is fast", at_least, at_most, units.ratio)


def result(shown: str, verdict: str = "held") -> ClaimResult:
    return ClaimResult(verdict, shown, "", None, None, None)


def test_an_interval_and_a_remark_are_read_with_the_bounds_of_the_claim() -> None:
    found = completed(claim(2.0), result("18.1× to 42.0×, speed of one ÷ speed of two"))
    assert found == ClaimResult(
        "held", "18.1× to 42.0×, speed of one ÷ speed of two", "", None, 2.0, None, (18.1, 42.0)
    )
    exact = completed(claim(at_most=2.0), result("1.50×"))
    assert (exact.measured, exact.low, exact.high, exact.ends) == (1.5, None, 2.0, (1.5, 1.5))


def test_a_claim_with_words_in_its_unit_is_read() -> None:
    files = Claim("files", "there are files", 2, math.inf, lambda value: f"{units.number(value)} files")
    assert completed(files, result("12 files")).measured == 12


@pytest.mark.parametrize(
    "shown", ["yes", "1.5", "1.50× of it", "6 of 7", "42.0× to 18.1×", "3.0000×"], ids=lambda text: f"“{text}”"
)
def test_a_text_that_the_unit_of_the_claim_does_not_write_is_not_read(shown: str) -> None:
    assert completed(claim(1.0), result(shown)) == result(shown)


def test_numbers_that_contradict_the_verdict_are_not_used() -> None:
    assert completed(claim(2.0), result("1.50×")) == result("1.50×")
    noisy = result("1.50× to 1.60×, the machine was too noisy", "inconclusive")
    assert completed(claim(1.0), noisy) == noisy
    unclear = completed(claim(1.55), result("1.50× to 1.60×, the measurement was too uncertain", "inconclusive"))
    assert unclear.ends == (1.5, 1.6)


def test_recorded_numbers_are_not_replaced() -> None:
    known = ClaimResult("held", "1.50×", "", 1.5, 1.2, None, (1.4, 1.6))
    assert completed(claim(1.0), known) is known
