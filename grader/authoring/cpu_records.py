"""Check the least gains in CPU time that the tiers of counted tasks need, with gains measured on several machines.

A gain is the baseline's CPU time divided by a submission's. A tier of a counted task needs two gains: one without a
counter, and one while opcodes are counted (`grader.trials.cpu_time`). `tests/benchmarks/cpu_times.py --record` measures
both gains of each known submission, and stores them in two folders of `tests/records`.

The needed gains must satisfy two requirements:

- Each known submission of a tier has at least `SAFE` times the gains that its tier needs. So noise cannot take its
  tier.
- A tier needs more than the gains of the known submissions below it. If this is not possible, a submission below the
  tier can earn it with a forged count. `forged_tiers` returns these cases.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from grader.authoring import tier_records
from grader.authoring.tier_records import Record, Row
from grader.records import Cost
from grader.task import CountedExam, Task
from grader.trials.cpu_time import least_gain

FOLDERS: Final[Mapping[bool, Path]] = {
    False: tier_records.FOLDER / "cpu_time",
    True: tier_records.FOLDER / "cpu_time_while_counting",
}
"""The folders of the stored gains: without a counter, and while opcodes are counted."""

SAFE: Final = 1.2
"""The gain of a known submission is at least the gain that its tier needs, times this factor."""

PROPOSED: Final = 1.25
"""A proposed gain is at most the least gain of the tier's known submissions, divided by this factor."""

NOISE: Final = 1.1
"""A forged count may earn a tier whose needed gain is less than a submission's gain times this factor."""


def meters(task: Task) -> tuple[bool, ...]:
    """Return which gains a task has: without a counter (False), and while opcodes are counted (True)."""
    if not isinstance(task.exam, CountedExam):
        return ()
    return (False, True) if task.cost is Cost.OPCODES else (False,)


def gains(task: Task, held: Record) -> Iterator[tuple[Row, int]]:
    """Yield the current stored gains of a task on a machine, each with the tier that the submission's name states."""
    for row, path in tier_records.current(task, held):
        yield row, tier_records.tier_named(task, path.stem)


def faults(task: Task, held: Record, *, counting: bool) -> Iterator[str]:
    """Yield a sentence for each stored gain that is too close to the gain that its tier needs."""
    for row, tier in gains(task, held):
        needed = least_gain(task.tiers[tier - 1], counting=counting) if tier else 0.0
        if row.ratio < SAFE * needed:
            yield (
                f"{held.machine.name}: {task.full_name}, {row.name}: the gain {row.ratio:g} is less than {SAFE:g} times"
                f" {needed:g}, which tier {tier} needs"
            )


def proposed(task: Task, records: Sequence[Record]) -> list[float]:
    """Return a needed gain for each tier: the geometric middle between the gains of this tier and of the tiers below.

    Where the gains of two tiers overlap or are close, the value lies below the gains of the upper tier.
    """
    of_tiers: dict[int, list[float]] = {}
    for row, tier in (each for held in records for each in gains(task, held)):
        of_tiers.setdefault(tier, []).append(row.ratio)
    found: list[float] = []
    for number in range(1, len(task.tiers) + 1):
        least = min((gain for tier, each in of_tiers.items() if tier >= number for gain in each), default=math.nan)
        below = max((gain for tier, each in of_tiers.items() if tier < number for gain in each), default=math.nan)
        found.append(min(math.sqrt(least * below), least / PROPOSED))
    return found


def forged_tiers(task: Task, *, counter_runs: bool = True) -> dict[int, int]:
    """Return the tiers that submissions with a forged count may earn, by their own tier, if they are higher.

    With `counter_runs`, the submission changes only the count. Else it also stops the counter, so that only the gain
    without a counter limits it.
    """
    used = [counting for counting in meters(task) if counter_runs or not counting]
    limits: dict[tuple[str, str], list[int]] = {}
    own: dict[tuple[str, str], int] = {}
    for counting in used:
        for held in tier_records.read_all(FOLDERS[counting]):
            for row, tier in gains(task, held):
                reached = sum(NOISE * row.ratio >= least_gain(each, counting=counting) for each in task.tiers)
                limits.setdefault((held.machine.name, row.name), []).append(reached)
                own[held.machine.name, row.name] = tier
    found: dict[int, int] = {}
    for key, each in limits.items():
        if len(each) == len(used) and min(each) > own[key]:
            found[own[key]] = max(found.get(own[key], 0), min(each))
    return dict(sorted(found.items()))
