"""What the file names of known submissions state, and how far a ratio must be from each tier.

A submission's ratio is the baseline's cost divided by its own cost. A tier is a ratio that earns points. A ratio
depends on the CPU, on Python and on torch. One file had a ratio of 2.3 on one machine and of 1.8 on another. A tier
between 1.8 and 2.3 would make the grade depend on the machine. So the ratios of all known submissions must be far from
tiers.
"""

import re
from collections.abc import Sequence

from grader.task import Task, Tier


def distance(ratio: float, tiers: Sequence[Tier]) -> float:
    """Return the factor between `ratio` and the nearest grade threshold, minus 1. Return infinity without thresholds.

    Example: 0.25 for a ratio of 2 and a threshold of 1.6 or 2.5.
    """
    return min((max(ratio / tier.ratio, tier.ratio / ratio) - 1 for tier in tiers), default=float("inf"))


def row_name(stem: str) -> str:
    """Return a file name without the expected grade: `blocks` for `tier2_blocks`."""
    return re.sub(r"^tier\d_", "", stem)


def tier_named(task: Task, stem: str) -> int:
    """Return the tier that the file name of a right submission states. The solution has the top tier."""
    named = re.match(r"tier(\d)_", stem)
    return int(named[1]) if named else 0 if stem.startswith("baseline") else len(task.tiers)
