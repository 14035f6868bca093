import math

import pytest

from lessons.engine.claim import Claim
from lessons.engine.interval import Interval
from lessons.engine.standing import Standing


def test_an_inconclusive_claim_names_the_cause() -> None:
    claim = Claim("id", "it is so", at_least=1.0)
    assert claim.settled(Interval.plus_minus(2.0, 2.0).widened(5.0)).reason == "the measurement was too uncertain"
    assert claim.settled(Interval.plus_minus(2.0, 0.5).widened(0.6)).reason == "the machine was too noisy"
    assert claim.settled(Interval.unknown()).reason == "nothing could be measured"
    assert claim.settled(Interval.plus_minus(2.0, 0.5).widened(0.5)).reason == ""


def test_a_value_that_was_not_measured_is_not_shown() -> None:
    claim = Claim("id", "it is so", at_least=1.0)
    assert claim.settled(Interval.unknown(), shown="1 to 2").shown == ""
    assert claim.settled(Interval.exact(2.0)).shown == "2"


@pytest.mark.parametrize(
    ("measured", "shown", "text"),
    [
        (Interval(2, 1, 4), "", "1 to 4"),
        (Interval(2, 1, math.inf), "", "2"),
        (Interval(2, 1, 4), "two", "two"),
        (Interval.unknown(), "", ""),
    ],
)
def test_an_interval_is_shown_with_its_ends(measured: Interval, shown: str, text: str) -> None:
    assert Claim("id", "it is so").settled(measured, shown).range_shown == text


def test_bounds_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(ValueError, match="wrong order"):
        Claim("id", "it is so", at_least=2.0, at_most=1.0)
    with pytest.raises(ValueError, match="wrong order"):
        Claim("id", "it is so", at_least=math.nan)


def test_a_skipped_claim_measured_nothing_and_names_the_missing_part() -> None:
    one = Claim("id", "it is so").skipped("no compiler here")
    assert (one.standing, one.reason) == (Standing.SKIPPED, "no compiler here")
    assert math.isnan(one.measured.middle)
    with pytest.raises(ValueError, match="needs a reason"):
        Claim("id", "it is so").skipped(" ")


@pytest.mark.parametrize(
    ("standing", "words", "answer"),
    [
        (Standing.HELD, "yes", "a"),
        (Standing.REFUTED, "no", "b"),
        (Standing.INCONCLUSIVE, "unclear", ""),
        (Standing.SKIPPED, "", ""),
    ],
)
def test_each_result_has_its_words_and_a_skipped_claim_has_none(standing: Standing, words: str, answer: str) -> None:
    claim = Claim("id", "it is so")
    assert claim.words(held="yes", refuted="no", unclear="unclear").text(standing) == words
    assert claim.answer(held="a", refuted="b").text(standing) == answer


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1.0, 2.0, "1 s to 2 s"),
        (1.0, math.inf, "at least 1 s"),
        (-math.inf, 2.0, "at most 2 s"),
        (2.0, 2.0, "2 s"),
        (-math.inf, math.inf, ""),
    ],
)
def test_bounds_are_written_in_the_unit_of_the_claim(low: float, high: float, words: str) -> None:
    assert Claim("id", "it is so", low, high, unit=lambda value: f"{value:g} s").bounds == words
