"""What `schedule` is given: jobs of planted widths and lengths, and the rules that a plan has to keep."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from grader.task import Metered, Mismatch
from grader.tasks.answers import as_number, shown
from grader.tasks.plain import PlainWorld
from grader.values import Value

NEVER_S = 1e9
"""The cost of what has not been planned yet."""


@dataclass
class Plan(PlainWorld):
    """Jobs to be planned, rows [width, seconds]. The cost is the second in which the last of them ends."""

    title: str
    jobs: list[tuple[int, int]]
    cores: int
    function: str = "schedule"
    cost: float = field(default=NEVER_S)

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """The jobs and the number of cores."""
        return ([[width, seconds] for width, seconds in self.jobs], self.cores)

    @property
    def plain_cost(self) -> float:
        """One job after the other."""
        return sum(seconds for _, seconds in self.jobs) or 1.0

    def judge(self, answer: Value) -> Mismatch | None:
        """Check every rule, and note when the last job ends."""
        if isinstance(answer, str | Mapping) or not isinstance(answer, Sequence) or len(answer) != len(self.jobs):
            return Mismatch(
                f"{len(self.jobs)} rows [start, cores]", shown(answer), "One row for each job, in their order."
            )
        busy: list[tuple[int, float, float, int]] = []
        for number, (row, (width, seconds)) in enumerate(zip(answer, self.jobs, strict=True)):
            if wrong := self._row(number, row, width):
                return wrong
            start_s, taken = _read(row)
            busy += [(core, start_s, start_s + seconds, number) for core in taken]
        busy.sort()
        for (core, _, end_s, first), (other, start_s, _, second) in pairwise(busy):
            if core == other and start_s < end_s:
                said = f"jobs {first} and {second} both have core {core} in second {start_s:g}"
                return Mismatch("one job on a core at a time", said)
        self.cost = max((end_s for _, _, end_s, _ in busy), default=1.0)
        return None

    def _row(self, number: int, row: Value, width: int) -> Mismatch | None:
        start_s = as_number(row[0]) if isinstance(row, list) and len(row) == 2 else None
        if not isinstance(row, list) or start_s is None or not isinstance(row[1], list):
            return Mismatch(f"[start, [core, ...]] for job {number}", shown(row))
        if start_s < 0:
            return Mismatch(f"a start from 0 on for job {number}", shown(row[0]))
        good = [
            core for core in row[1] if isinstance(core, int) and not isinstance(core, bool) and 0 <= core < self.cores
        ]
        if len(good) != len(row[1]) or len(set(good)) != len(good) or len(good) != width:
            wanted = f"{width} different cores of 0 to {self.cores - 1} for job {number}"
            return Mismatch(wanted, shown(row[1]), "As many as the job is wide, each once.")
        return None


def _read(row: Value) -> tuple[float, list[int]]:
    """A row that was found to be one."""
    assert isinstance(row, list)
    start_s, taken = as_number(row[0]), row[1]
    assert start_s is not None
    assert isinstance(taken, list)
    return start_s, [core for core in taken if isinstance(core, int)]


def draw_worlds(rng: np.random.Generator) -> tuple[Plan, ...]:
    """Draw a suite of benchmarks on small and large machines, and what makes plans bad."""
    in_turns = "long narrow ones and short ones for all cores, in turns"
    return (
        Plan("no jobs", [], 2),
        Plan("two cores, jobs of one and two", _drawn(rng, 24, 2, 20), 2),
        Plan("eight cores", _drawn(rng, 40, 3, 30), 8),
        Plan(in_turns, _in_turns(rng, 16), 16),
        Plan(in_turns, _in_turns(rng, 24), 24),
        Plan("a long one comes last", _long_last(rng, 16), 16),
        Plan("in turns, and a long one last", [*_in_turns(rng, 32), *_long_last(rng, 32)], 32),
        Plan(in_turns, _in_turns(rng, 48), 48),
    )


def _drawn(rng: np.random.Generator, number: int, most_width: int, most_s: int) -> list[tuple[int, int]]:
    return [(int(rng.integers(1, most_width + 1)), int(rng.integers(1, most_s))) for _ in range(number)]


def _in_turns(rng: np.random.Generator, cores: int) -> list[tuple[int, int]]:
    """Long narrow ones, and between each two a short one for all cores: who keeps the order runs one at a time."""
    jobs: list[tuple[int, int]] = []
    for _ in range(20):
        jobs += [(int(rng.integers(1, 3)), int(rng.integers(20, 40))), (cores, int(rng.integers(1, 3)))]
    return jobs


def _long_last(rng: np.random.Generator, cores: int) -> list[tuple[int, int]]:
    """Short ones for all cores, and then a narrow one as long as all of them together."""
    short = [(int(rng.integers(1, 3)), int(rng.integers(2, 8))) for _ in range(5 * cores)]
    work_s = sum(width * seconds for width, seconds in short)
    return [*short, (1, work_s // cores)]
