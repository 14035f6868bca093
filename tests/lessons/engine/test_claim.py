"""Claims, the intervals that decide them, and the words for each result."""

import json
import math
from random import Random

import pytest
from sessions import Play

from lessons.engine import Choice, Claim, Lesson, Page
from lessons.engine.interval import UNLIKELY, Interval, Standing
from lessons.engine.listing import claims_words
from lessons.engine.progress import ProgressFile

HELD, REFUTED, INCONCLUSIVE, SKIPPED = Standing


def test_an_inconclusive_claim_names_the_cause() -> None:
    claim = Claim("id", "it is so", at_least=1.0)
    assert claim.settled(Interval.plus_minus(2.0, 2.0).widened(5.0)).reason == "the measurement was too uncertain"
    assert claim.settled(Interval.plus_minus(2.0, 0.5).widened(0.6)).reason == "the machine was too noisy"
    assert claim.settled(Interval.unknown(), shown="1 to 2").reason == "nothing could be measured"
    assert claim.settled(Interval.plus_minus(2.0, 0.5).widened(0.5)).reason == ""


def test_a_comparison_needs_the_whole_interval() -> None:
    for measured, half_width, low, high, standing in (
        (2.0, 0.0, 2.0, 2.0, HELD),
        (2.0, 1.0, 1.0, 3.0, HELD),
        (2.0, 1.1, 1.0, 3.0, INCONCLUSIVE),
        (0.5, 0.4, 1.0, 3.0, REFUTED),
        (0.5, 0.5, 1.0, 3.0, INCONCLUSIVE),
        (4.0, 0.5, 1.0, 3.0, REFUTED),
        (4.0, 2.0, 3.0, math.inf, INCONCLUSIVE),
        (math.inf, 0.0, 1.0, math.inf, HELD),
        (2.0, math.inf, 1.0, 3.0, INCONCLUSIVE),
        (math.nan, 0.0, -math.inf, math.inf, INCONCLUSIVE),
    ):
        interval = Interval.plus_minus(measured, half_width)
        assert interval.compare(at_least=low, at_most=high) is standing, interval


def test_the_median_lies_in_the_interval_of_the_sign_test() -> None:
    assert Interval.median([4.0] * 8 + [40.0]) == Interval.exact(4)
    assert Interval.median([4.0] * 7 + [2.0] * 2) == Interval(4, 2, 4)
    assert Interval.median([4.0, 4.0, 2.0]) == Interval(4, 2, 4)
    assert Interval.median([float(n) for n in range(20)]) == Interval(9.5, 4, 15)


def test_the_interval_of_the_median_misses_it_in_at_most_the_stated_share_of_samples() -> None:
    draws = Random(7)
    missed = 0
    for _ in range(2000):
        found = Interval.median([draws.expovariate(1) for _ in range(12)])
        missed += not found.low <= math.log(2) <= found.high
    assert UNLIKELY / 2 < missed / 2000 < UNLIKELY * 1.25


def test_the_interval_of_a_share_is_narrower_with_more_tests_and_never_has_width_zero() -> None:
    assert Interval.share(200, 400).half_width == pytest.approx(0.05)
    assert Interval.share(50, 100).half_width == pytest.approx(0.1)
    assert Interval.share(0, 100).half_width > 0
    assert Interval.share(0, 100).low == 0
    assert Interval.share(7, 8).high == 1
    assert math.isnan(Interval.share(0, 0).middle)


def test_noise_widens_an_interval_on_both_sides() -> None:
    interval = Interval(2, 1, 4).widened(0.5).with_noise(0.1)
    assert (interval.lowest, interval.highest) == pytest.approx((0.3, 4.7))
    assert Interval.exact(2).void_if(True).compare(at_least=1) is INCONCLUSIVE
    assert Interval.exact(2).void_if(False).compare(at_least=1) is HELD
    assert Interval.unknown().with_noise(0.1).noise == 0


lesson = Lesson(__file__, objective="None.")


@lesson.step("A missing part", predict=Choice("Yes?", {"a": "yes"}), expected="a")
def count() -> int:
    return 1


THERE = count.claim("there", "one is one", equals=1)
NOT_THERE = count.claim("not-there", "a counter counts", equals=1)


@count.explain
def _(page: Page, result: int) -> None:
    page.reveal(None, "There is no counter here.")
    page.settle(THERE, result)
    page.skip(NOT_THERE, "no counter here: apt install counter")
    page.say(NOT_THERE.words(held="It counts.", refuted="It does not count.", unclear="Unclear."))


def test_a_skipped_claim_names_the_missing_part_and_counts_as_neither_held_nor_refuted(prepare: Play) -> None:
    played = prepare(lesson, width=100)
    played.session.play()
    printed = " ".join(played.out.getvalue().split())
    assert "✓ one is one" in printed
    assert "– a counter counts skipped: no counter here:" in printed
    assert "ount." not in printed.replace("a counter counts", "")
    claim = json.loads(json.dumps(played.session.record().to_json(), allow_nan=False))["claims"][1]
    assert (claim["verdict"], claim["reason"]) == ("skipped", "no counter here: apt install counter")
    assert claim["measured"] is claim["low"] is claim["high"] is None
    ProgressFile().save(played.session.record())
    progress = ProgressFile().load()["test_claim"]
    assert progress.claims == {"there": "held", "not-there": "skipped"}
    assert (progress.held, progress.measured) == (1, 1)
    assert claims_words(progress) == "1/1, 1 skipped"
    with pytest.raises(ValueError, match="needs a reason"):
        NOT_THERE.skipped(" ")
