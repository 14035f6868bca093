"""Print on one screen the figures that must reach a goal: `python tests/benchmarks/verdicts.py --reach`.

While three processes load the machine in bursts, it compares equal code and code with a known slowdown. It prints the
measured difference between equal code, and how often a true slowdown of 3 % gets the verdict SLOWER. It also prints the
seconds to a verdict on a true slowdown of 2.
"""

import math
from collections.abc import Callable, Sequence
from statistics import median

from jobs import Batch, Job
from tally import TITLES, Trial
from workloads import WORKS

from harness.paired.duel_result import Finding
from harness.paired.noise import p95
from harness.rendering import units
from harness.rendering.tables import Column, Table

LOAD = "bursty"
_SAME, _SLOWER, _FAR = 1.0, 1.03, 2.0
_PROCESSES = {_SAME: 40, _SLOWER: 20, _FAR: 20}
"""The number of new processes for each true ratio. Each judges every work once: 200, 100 and 100 verdicts."""

_CLAIMED = math.log(1.02)


def plan(tools: Sequence[str], budget_s: float, margin: float, share: float = 1.0) -> list[Batch]:
    """Return the batches to run, with tools and true ratios mixed. A `share` below 1 makes a shorter run."""
    return [
        Batch(LOAD, repetition, tuple(Job(tool, work.name, truth, budget_s, margin) for work in WORKS))
        for repetition in range(max(_PROCESSES.values()))
        for truth, processes in _PROCESSES.items()
        if repetition < max(1, round(processes * share))
        for tool in tools
    ]


def tables(trials: Sequence[Trial]) -> list[Table]:
    """Return a table of figures per tool: one line for all kinds of work together, then one line per kind."""
    tools = [tool for tool in TITLES if any(trial.tool == tool for trial in trials)]
    return [_table(tool, [trial for trial in trials if trial.tool == tool]) for tool in tools]


def _table(tool: str, trials: list[Trial]) -> Table:
    columns = (
        Column("work"),
        Column("A/A p95", units.percent),
        Column("A/A worst", units.percent),
        Column("A/A beyond 2 %"),
        Column("3 % SLOWER"),
        Column("timing at 2 times", units.seconds),
        Column("undecided"),
    )
    goals = ("reach", "0.5 %", "2 %", "1 of 200", "95 of 100", "400 ms", "")
    names = [work.name for work in WORKS if any(trial.work == work.name for trial in trials)]
    rows = [_row(name, [trial for trial in trials if trial.work == name]) for name in names]
    # The goals are text, which makes a column left-aligned. So the measured values are converted to text, too.
    shown = [tuple(column.text(cell) for column, cell in zip(columns, row, strict=True)) for row in rows]
    total = tuple(column.text(cell) for column, cell in zip(columns, _row("all", trials), strict=True))
    return Table(f"{TITLES[tool]}, beside three bursty neighbours", columns, (goals, total, *shown))


def _row(name: str, trials: list[Trial]) -> tuple[str | float | None, ...]:
    same, slower, far = ([trial for trial in trials if trial.truth == truth] for truth in (_SAME, _SLOWER, _FAR))
    return (
        name,
        p95([trial.error for trial in same]) if same else None,
        max((trial.error for trial in same), default=None),
        _share(same, lambda trial: trial.error > _CLAIMED and _finding(trial) in {Finding.SLOWER, Finding.FASTER}),
        _share(slower, lambda trial: _finding(trial) is Finding.SLOWER),
        median(trial.judgement.timing_s for trial in far) if far else None,
        _share(trials, lambda trial: _finding(trial) is Finding.UNDECIDED),
    )


def _finding(trial: Trial) -> Finding:
    return trial.judgement.finding


def _share(trials: list[Trial], holds: Callable[[Trial], bool]) -> str:
    return f"{sum(map(holds, trials))} of {len(trials)}"
