"""Run comparisons of a benchmark in new processes, keep their results, and count how often each tool was wrong.

A *slowdown* is the candidate's time divided by the baseline's. The true slowdown is 1.05 if the candidate does 5 % more
work. A new process has a new memory layout, so `play` starts one for every group of jobs. A file keeps the results as
one JSON object per line, so that an interrupted run can continue.
"""

import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter

import json_lines
from neighbours import LOADS, disturbed
from tools import MARGIN, STRICT, TOOLS, rule_of_thumb
from workloads import work_named

from harness.paired.duel import Finding
from harness.paired.noise import p95
from harness.rendering import units
from harness.rendering.tables import Heads, Table

EDGE = math.log(1.05)
"""The error, as a log ratio, that changes a grade if the nearest tier is 5 % away."""

ROOM = 0.01
"""The distance from the margin within which a true slowdown may get either verdict, except the wrong direction."""


@dataclass(frozen=True, slots=True)
class Job:
    """One comparison of a tool under a load: the work with its true slowdown."""

    load: str
    repetition: int
    tool: str
    work: str
    truth: float


@dataclass(frozen=True, slots=True)
class Trial:
    """One result of a job. A tool may have several: `reading` is the name of the figure.

    `timing_s` is the wall time of the tool's samples of both sides. `wall_s` is all of its time, with the start of its
    processes.
    """

    job: Job
    reading: str
    slowdown: float
    verdict: str
    timing_s: float
    wall_s: float

    @property
    def false(self) -> bool:
        """Whether the verdict denies or invents a difference, or has the wrong direction. UNDECIDED is never false.

        Within `ROOM` of the margin, two verdicts are right.
        """
        right = {rule_of_thumb(self.job.truth, margin) for margin in (MARGIN - ROOM + 1e-9, MARGIN + ROOM - 1e-9)}
        return self.verdict not in {Finding.UNDECIDED, *right}

    @property
    def error(self) -> float:
        """The absolute value of log(measured slowdown ÷ true slowdown)."""
        return abs(math.log(self.slowdown / self.job.truth))


def read(path: Path) -> list[Trial]:
    return [Trial(**{**told, "job": Job(**told["job"])}) for told in json_lines.read(path)]


def run(path: Path, groups: Iterable[Sequence[Job]]) -> None:
    """Run the jobs that the file lacks, each group in a new process under its load, and add the trials to it."""
    done = {one.job for one in read(path)}
    for group in groups:
        if left := [job for job in group if job not in done]:
            with disturbed(next(load for load in LOADS if load.name == left[0].load)):
                json_lines.append(path, map(asdict, play(left)))


def play(jobs: Sequence[Job]) -> list[Trial]:
    """Run the jobs one after the other in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(judge_all, jobs).result()


def judge_all(jobs: Sequence[Job]) -> list[Trial]:
    # Imports are not part of a job's time, because users who time torch have imported it already.
    for setup in {work_named(job.work).sides(job.truth).setup for job in jobs}:
        exec(setup, {})  # noqa: S102 - the benchmark's own texts
    return [trial for job in jobs for trial in judge(job)]


def judge(job: Job) -> list[Trial]:
    sides, begun_s = work_named(job.work).sides(job.truth), perf_counter()
    said = (TOOLS | dict([STRICT]))[job.tool](sides)
    wall_s = perf_counter() - begun_s
    return [
        Trial(job, ", ".join(filter(None, (job.tool, one.figure))), one.slowdown, one.verdict, one.timing_s, wall_s)
        for one in said
    ]


def scoreboard(title: str, trials: Sequence[Trial]) -> Table:
    """Return a table with a row for each figure of each tool: shares of its verdicts, errors, and median times."""
    columns: Heads = {
        "tool": None,
        "verdicts": units.count,
        "false": units.percent,
        "undecided": units.percent,
        "error median": units.percent,
        "p95": units.percent,
        "worst": units.percent,
        "off by 5 %": units.percent,
        "timing": units.seconds,
        "in all": units.seconds,
    }
    tools = [*TOOLS, STRICT[0]]
    readings = dict.fromkeys(one.reading for one in sorted(trials, key=lambda one: tools.index(one.job.tool)))
    return Table.of(title, columns, [_row([one for one in trials if one.reading == name]) for name in readings])


def _row(trials: Sequence[Trial]) -> tuple[str | float, ...]:
    errors, count = [one.error for one in trials], len(trials)
    return (
        *(trials[0].reading, count, sum(one.false for one in trials) / count),
        sum(one.verdict == Finding.UNDECIDED for one in trials) / count,
        *(median(errors), p95(errors), max(errors), sum(error > EDGE for error in errors) / count),
        *(median(one.timing_s for one in trials), median(one.wall_s for one in trials)),
    )
