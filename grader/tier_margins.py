"""How far a known submission's ratio is from the nearest tier, and how far it must be. Pure.

A ratio depends on the CPU, on Python and on torch: the same file measured 2.3× on one machine and 1.8× on another. A
tier between the two would grade the machine. So tiers stand in wide gaps between the known submissions.
"""

from collections.abc import Sequence
from typing import Final

from grader.records import CLOCKED, Cost
from grader.task import Tier

LEAST: Final = 0.10
"""`lint` fails below this distance, for every cost."""

LEAST_ON_RECORD: Final = {cost: 0.20 if cost in CLOCKED else 0.10 for cost in Cost}
"""The least distance in any record of `tests/records`. What is counted repeats, so half of it is enough: instructions
and opcodes exactly, peak memory within 1 %."""


def distance(ratio: float, tiers: Sequence[Tier]) -> float:
    """Return by what part `ratio` would have to grow or shrink to reach the nearest tier; infinity without tiers.

    0.25 for a ratio of 2 and a tier of 1.6 or 2.5.
    """
    return min((max(ratio / tier.ratio, tier.ratio / ratio) - 1 for tier in tiers), default=float("inf"))


def tier_of(ratio: float, tiers: Sequence[Tier]) -> int:
    """Return how many of the ascending tiers a ratio reaches."""
    return sum(ratio >= tier.ratio for tier in tiers)
