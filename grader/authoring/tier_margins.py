"""The distance of a known submission's ratio from the nearest tier, and the smallest allowed distance. Pure.

A ratio depends on the CPU, on Python and on torch. The same file had a ratio of 2.3 on one machine and 1.8 on another.
A tier between 1.8 and 2.3 would make the grade depend on the machine. So a tier must be far from the ratios of all
known submissions.
"""

from collections.abc import Sequence
from typing import Final

from grader.records import CLOCKED, Cost
from grader.task import Tier

MIN_DISTANCE: Final = 0.10
"""The smallest distance from the nearest tier that `lint` accepts, for every kind of cost."""

MIN_RECORDED_DISTANCE: Final = {cost: 0.20 if cost in CLOCKED else 0.10 for cost in Cost}
"""The smallest allowed distance in the records of `tests/records`, by kind of cost.

Costs without a clock need only half of the distance, because repeated measurements agree: exactly for opcodes, and
within 1 % for peak memory.
"""


def distance(ratio: float, tiers: Sequence[Tier]) -> float:
    """Return the factor between `ratio` and the nearest tier's ratio, minus 1. Return infinity without tiers.

    Example: 0.25 for a ratio of 2 and a tier of 1.6 or 2.5.
    """
    return min((max(ratio / tier.ratio, tier.ratio / ratio) - 1 for tier in tiers), default=float("inf"))
