"""Task (b) of lesson 15: plan jobs of given widths and durations on some cores. The cost is the end of the last job.

The baseline runs one job after the other. Jobs in strict order gain 1.6, and any job that fits gains 4.3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from grader.kinds.simulated import SIMULATED_TIME
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task, Tier
from grader.tasks.plain import PlainScenario, as_number, is_whole, shown
from grader.values import Value

NEVER_S = 1e9
"""The cost of a scenario in seconds before a plan has been accepted."""


@dataclass
class Plan(PlainScenario):
    """Jobs to plan, as rows [number of cores, seconds]. The cost is the second in which the last job ends."""

    title: str
    jobs: list[tuple[int, int]]
    cores: int
    function = "schedule"
    cost: float = field(default=NEVER_S)

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of `schedule`: the jobs and the number of cores."""
        return ([[width, seconds] for width, seconds in self.jobs], self.cores)

    @property
    def plain_cost(self) -> float:
        """Return the second in which the last job ends if one job runs after the other, as in the baseline."""
        return sum(seconds for _, seconds in self.jobs) or 1.0

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` for the first broken rule. If there is none, set the cost and return None."""
        if isinstance(answer, str | Mapping) or not isinstance(answer, Sequence) or len(answer) != len(self.jobs):
            why = "Return one row for each job, in the order of the jobs."
            return Mismatch(f"{len(self.jobs)} rows [start, cores]", shown(answer), why)
        busy: list[tuple[int, float, float, int]] = []
        for number, (row, (width, seconds)) in enumerate(zip(answer, self.jobs, strict=True)):
            read = self._read(number, row, width)
            if isinstance(read, Mismatch):
                return read
            start_s, taken = read
            busy += [(core, start_s, start_s + seconds, number) for core in taken]
        busy.sort()
        for (core, _, end_s, first), (other, start_s, _, second) in pairwise(busy):
            if core == other and start_s < end_s:
                said = f"jobs {first} and {second} both have core {core} in second {start_s:g}"
                return Mismatch("one job on a core at a time", said)
        self.cost = max((end_s for _, _, end_s, _ in busy), default=1.0)
        return None

    def _read(self, number: int, row: Value, width: int) -> tuple[float, list[int]] | Mismatch:
        start_s = as_number(row[0]) if isinstance(row, list) and len(row) == 2 else None
        if not isinstance(row, list) or start_s is None or not isinstance(row[1], list):
            return Mismatch(f"[start, [core, ...]] for job {number}", shown(row))
        if start_s < 0:
            return Mismatch(f"a start of at least 0 for job {number}", shown(row[0]))
        good = [core for core in row[1] if is_whole(core, 0, self.cores - 1)]
        if len(good) != len(row[1]) or len(set(good)) != len(good) or len(good) != width:
            wanted = f"{width} different cores of 0 to {self.cores - 1} for job {number}"
            why = "The width of a job is the number of its cores. Return this number of different cores."
            return Mismatch(wanted, shown(row[1]), why)
        return start_s, good


def draw_scenarios(rng: np.random.Generator) -> tuple[Plan, ...]:
    """Return random jobs for small and large machines, and jobs for which simple plans are slow."""
    in_turns = "long narrow jobs, alternating with short jobs for all cores"
    return (
        Plan("no jobs", [], 2),
        Plan("two cores, and jobs for one or two cores", _drawn(rng, 24, 2, 20), 2),
        Plan("eight cores", _drawn(rng, 40, 3, 30), 8),
        Plan(in_turns, _in_turns(rng, 16), 16),
        Plan(in_turns, _in_turns(rng, 24), 24),
        Plan("short jobs, and a long job last", _long_last(rng, 16), 16),
        Plan("alternating jobs, and then short jobs and a long job", [*_in_turns(rng, 32), *_long_last(rng, 32)], 32),
        Plan(in_turns, _in_turns(rng, 48), 48),
    )


def _drawn(rng: np.random.Generator, number: int, most_width: int, most_s: int) -> list[tuple[int, int]]:
    return [(int(rng.integers(1, most_width + 1)), int(rng.integers(1, most_s))) for _ in range(number)]


def _in_turns(rng: np.random.Generator, cores: int) -> list[tuple[int, int]]:
    jobs: list[tuple[int, int]] = []
    for _ in range(20):
        jobs += [(int(rng.integers(1, 3)), int(rng.integers(20, 40))), (cores, int(rng.integers(1, 3)))]
    return jobs


def _long_last(rng: np.random.Generator, cores: int) -> list[tuple[int, int]]:
    short = [(int(rng.integers(1, 3)), int(rng.integers(2, 8))) for _ in range(5 * cores)]
    work_s = sum(width * seconds for width, seconds in short)
    return [*short, (1, work_s // cores)]


SCHEDULE = Task(
    summary="give jobs their own cores, so that the last job ends early",
    cost=SIMULATED_TIME,
    tiers=(Tier(1.25, 0.7), Tier(3.0, 1.0)),
    hints=(
        "Which cores are idle while the first job runs? Which of the waiting jobs would fit on these idle cores?",
        (
            "Keep a list with the second at which each core becomes free. When a job ends, try all waiting jobs, not "
            "only the first. If a job needs more cores than are free, it must not delay a job that needs fewer cores."
        ),
        (
            "Sort the jobs by width × seconds, the largest first. Go through the jobs in this order, and begin each "
            "job for which enough cores are free. Then go to the next second at which a core becomes free. A long job "
            "that begins last delays the end of the whole plan."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="lists of jobs"),
    read="lesson 15, “Worker processes with their own cores”",
    idea=(
        "Whenever cores become free, the solution begins the largest jobs that fit, and small jobs fill the remaining "
        "cores. Large jobs begin early, because at the end there are no other jobs to run beside them. The solution's "
        "plan is close to the best plan. A search for the best plan would take much longer with every further job."
    ),
    references=(
        "R. L. Graham, Bounds on Multiprocessing Timing Anomalies (1969), shows how far a simple plan can be from the "
        "best plan. Schedulers of clusters, such as Slurm's, start small jobs early in free gaps (backfilling)."
    ),
    least_gain=1.5,
)
