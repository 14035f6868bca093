"""Time a function. If it is timed at several input sizes, the size at which it gains least decides the points."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from grader.isolation.forkserver import ForkServer
from grader.kinds.examiner import Examiner, MeasuredCost, Solver
from grader.records import Attempt, Control, Speed, Status
from grader.seeds import generator
from grader.session import Session
from grader.source import Source
from grader.trials import speed
from harness.paired.rounds import Outcome
from harness.rendering.units import ratio

CALLS: Final = 3
"""The number of runs for an estimate. The shortest time is used."""


class TimedCost(MeasuredCost):
    """The CPU time of a function, or its wall time."""

    def measure(self, examiner: Examiner[Any], tree: ForkServer, source: Source, session: Session) -> Attempt:
        """Time a right submission, run in `tree`, against the baseline at each input size."""
        rng, by_wall = generator(*examiner.seed, "timed"), self.clock == "wall"
        ended = []
        for inputs, task, supply in examiner.supplies(rng):
            outcome, control = speed.duel(task, supply, tree, source, session, rng, by_wall=by_wall)
            ended.append(SizedDuel(inputs, outcome, control))
        return graded(ended)

    def estimate(self, solver: Solver, calls: Sequence[Any]) -> float:
        """Return the CPU seconds of the fastest of `CALLS` runs of these calls, after one untimed run."""
        found = []
        for _ in range(1 + CALLS):
            began_s = time.thread_time()
            for each in calls:
                solver(each)
            found.append(time.thread_time() - began_s)
        return max(min(found[1:]), 1e-9)


TIME: Final = TimedCost("time", "takes {} as long", "times as fast", clock="cpu")
"""CPU time, which other load on the machine hardly changes."""

WALL_TIME: Final = TimedCost("wall time", "takes {} as long", "times as fast", clock="wall")
"""Wall time, for functions that use several threads or a GPU."""


@dataclass(frozen=True, slots=True)
class SizedDuel:
    """The result of timing a submission at one input size, which `inputs` describes unless it is the only one."""

    inputs: str
    outcome: Outcome
    control: Control

    @property
    def tier(self) -> int:
        """The number of the task's tiers (required ratios) that the submission reaches, rounded up in case of doubt."""
        return 0 if self.control.impossible else self.outcome.highest_tier_index(self.control.benefit)


def graded(ended: Sequence[SizedDuel]) -> Attempt:
    """Return the result of a right submission. An impossible time decides, or else the size with the lowest ratio."""
    worst = min(ended, key=lambda one: (not one.control.impossible, one.tier, one.outcome.estimate.ratio))
    outcome, known = worst.outcome, worst.outcome.estimate
    status = Status.UNDECIDED if outcome.undecided else Status.PASSED
    return Attempt(
        Status.IMPOSSIBLE if worst.control.impossible else status,
        in_words(ended, worst),
        speed=Speed(known.ratio, known.low, known.high, known.rounds, worst.tier, outcome.undecided),
        rounds=outcome.rounds,
        control=worst.control,
    )


def in_words(ended: Sequence[SizedDuel], worst: SizedDuel) -> str:
    """Return the ratio at each size as text for the student, or "" if there is only one size."""
    if len(ended) == 1:
        return ""
    lines = [f"The worst of {len(ended)} sizes counts:"]
    for one in ended:
        mark = " (impossible)" if one.control.impossible else " (the worst)" if one is worst else ""
        lines.append(f"  {ratio(one.outcome.estimate.ratio)} with {one.inputs}{mark}")
    return "\n".join(lines)
