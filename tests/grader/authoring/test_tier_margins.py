"""The distance of a ratio from the nearest tier."""

import math

import pytest

from grader.authoring.tier_margins import MIN_DISTANCE, MIN_RECORDED_DISTANCE, distance
from grader.records import Cost
from grader.task import Tier, tier_of

TIERS = (Tier(1.5, 0.6), Tier(4.0, 1.0))


@pytest.mark.parametrize(
    ("ratio", "away"), [(1.5, 0), (3.0, 1 / 3), (2.0, 1 / 3), (1.0, 0.5), (5.0, 0.25), (3.2, 0.25), (40.0, 9.0)]
)
def test_a_distance_is_by_what_part_a_ratio_has_to_change_to_reach_the_nearest_tier(ratio: float, away: float) -> None:
    assert distance(ratio, TIERS) == pytest.approx(away)


def test_without_tiers_every_ratio_is_far_away() -> None:
    assert distance(1.0, ()) == math.inf


@pytest.mark.parametrize(("ratio", "tier"), [(1.49, 0), (1.5, 1), (3.99, 1), (4.0, 2), (100.0, 2)])
def test_a_ratio_reaches_every_tier_up_to_its_own_size(ratio: float, tier: int) -> None:
    assert tier_of(ratio, TIERS) == tier


def test_what_a_clock_tells_needs_more_distance_than_what_is_counted() -> None:
    assert MIN_RECORDED_DISTANCE[Cost.TIME] == MIN_RECORDED_DISTANCE[Cost.WALL_TIME] == 0.20
    counted = set(Cost) - {Cost.TIME, Cost.WALL_TIME}
    assert {MIN_RECORDED_DISTANCE[cost] for cost in counted} == {0.10}
    assert min(MIN_RECORDED_DISTANCE.values()) >= MIN_DISTANCE
