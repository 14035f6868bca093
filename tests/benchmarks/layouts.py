"""Measure how much the speeds of two processes with the same code differ, for several ways to start them.

    python tests/benchmarks/layouts.py --pairs 20

Each of `--pairs` repetitions covers each way to start processes, in random order, and each kind of work. Two processes
are started, import torch, and run the same code alternately for `--seconds`. The true ratio of their times is 1. For
each way and kind, the benchmark prints three figures of the errors |log ratio| of all pairs. These are the root mean
square, the largest error, and the number of errors above 1 %. Last, it prints the root mean square that the spread of
the measured times alone would cause if all processes were equally fast. No smaller error can be measured in this time.
"""

import argparse
import json
import math
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from statistics import fmean, median

from forks import WarmProcess

from harness.machine import clocks
from harness.machine.lanes import lane
from harness.paired import process_env
from harness.paired.paired_process import (
    COMMAND,
    PairedProcess,
    Process,
    process_environment,
    start_process,
    stop_all,
)
from harness.paired.paired_process_main import make_job
from harness.paired.process_pairs import TimedWorker, calls_in_a_turn, timed_worker
from harness.paired.rounds import Round
from harness.rendering import units
from harness.rendering.tables import Column, Table

KINDS = {
    "Python loop": ("for i in counting: total += i", "counting = range(1000); total = 0"),
    "dict": ("for key in keys: found[key]", "found = {n * 7919: n for n in range(20_000)}; keys = list(found)[:2000]"),
    "small torch ops": ("a.add(b).mul(a).sum()", "a, b = torch.rand(64), torch.rand(64)"),
    "matmul": ("a @ b", "a, b = torch.rand(96, 96), torch.rand(96, 96)"),
    "pointwise 200k": ("torch.mul(a, b, out=c)", "a, b, c = (torch.rand(200_000) for _ in range(3))"),
}
"""The statement and setup of each kind of work."""

SETUP = "import torch; torch.manual_seed(0)"

WARM_UP_ROUNDS = 5

Begin = Callable[[], Process]


@dataclass(frozen=True)
class Way:
    """One way of starting paired processes: changes of their environment (None removes a variable), and their start."""

    name: str
    changes: Mapping[str, str | None] = field(default_factory=dict)
    randomised: bool = False
    forked: bool = False
    padding: bool = False

    def environment(self, turn: int) -> dict[str, str]:
        """Return the environment of the two processes in one repetition.

        Padding changes its size in each repetition, equally for both processes.
        """
        changed: dict[str, str | None] = {**process_environment(), "GLIBC_TUNABLES": None, **self.changes}
        if self.padding:
            changed["PADDING"] = "x" * (1024 * (turn % 4))
        return {name: value for name, value in changed.items() if value is not None}

    @contextmanager
    def starting(self, turn: int) -> Iterator[Begin]:
        """Return the function that starts a paired process in this way."""
        if self.forked:
            warm = WarmProcess(self.environment(turn))
            try:
                yield warm.fork
            finally:
                warm.end()
            return
        command = list(COMMAND) if self.randomised else process_env.command(COMMAND)
        yield lambda: start_process(command, self.environment(turn))


HUGE = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
WAYS = (
    Way("fixed layout"),
    Way("random layout", randomised=True),
    Way("several fixed layouts", padding=True),
    Way("huge pages", HUGE),
    Way("huge pages, random layout", HUGE, randomised=True),
    Way("PYTHONMALLOC=malloc", {"PYTHONMALLOC": "malloc"}),
    Way("PYTHONMALLOC=malloc, huge pages", {"PYTHONMALLOC": "malloc", **HUGE}),
    Way("no MALLOC_ thresholds", {"MALLOC_MMAP_THRESHOLD_": None, "MALLOC_TRIM_THRESHOLD_": None}),
    Way("no MALLOC_ thresholds, huge pages", {"MALLOC_MMAP_THRESHOLD_": None, "MALLOC_TRIM_THRESHOLD_": None, **HUGE}),
    Way("forks of a warm process", forked=True),
    Way("forks of a warm process, huge pages", HUGE, forked=True),
)


@dataclass(frozen=True)
class Played:
    """The results of a pair of processes for one kind of work, as log ratios.

    `error` is the median of all rounds. `halves` is the median of the even rounds minus that of the odd rounds.
    """

    way: str
    kind: str
    error: float
    halves: float


def main() -> int:
    """Run the pairs, and print the results."""
    parser = argparse.ArgumentParser(description="A/A errors of twins started in different ways.")
    parser.add_argument("--pairs", type=int, default=20, help="pairs of each way (default 20)")
    parser.add_argument("--seconds", type=float, default=0.4, help="timing of a pair on one kind of work (default 0.4)")
    parser.add_argument("--ways", default="", help="only ways whose name contains one of these, by commas")
    parser.add_argument("--json", type=Path, help="keep the errors of all pairs in this file")
    options = parser.parse_args()
    wanted = options.ways.split(",")
    ways = [way for way in WAYS if any(part in way.name for part in wanted)]
    calls: dict[str, int] = {}
    played: list[Played] = []
    with lane() as held:
        for turn in range(options.pairs):
            for way in random.sample(ways, len(ways)):
                with way.starting(turn) as one_more:
                    played += play(way, one_more, held.core, calls, options.seconds)
            print(f"turn {turn + 1} of {options.pairs}", file=sys.stderr, flush=True)
            if options.json:
                options.json.write_text(json.dumps([vars(one) for one in played]))
    for kind in KINDS:
        print(table(kind, ways, played).to_text() + "\n")
    print(table("all kinds together", ways, played).to_text())
    return 0


def play(way: Way, one_more: Begin, core: int, calls: dict[str, int], seconds: float) -> list[Played]:
    """Run each kind of work on new paired processes that start at once. `calls` of each kind fill a turn.

    The number of calls is determined once.
    """
    pairs: dict[str, list[PairedProcess]] = {kind: [] for kind in KINDS}
    try:
        for kind, (statement, setup) in KINDS.items():
            for _ in range(2):
                pairs[kind].append(PairedProcess(kind, make_job(statement, f"{SETUP}\n{setup}"), one_more()))
        for one in chain.from_iterable(pairs.values()):
            one.wait_until_ready()
        found = []
        with process_env.pinned(core):
            for kind, pair in pairs.items():
                with ExitStack() as timing:
                    both = [timing.enter_context(timed_worker(one, core, None, clocks.wall)) for one in pair]
                    if kind not in calls:
                        calls[kind] = calls_in_a_turn(both[0])
                    for _ in range(WARM_UP_ROUNDS):
                        rounds(both, calls[kind], 0.0)
                    found.append(summed_up(way.name, kind, rounds(both, calls[kind], seconds)))
    finally:
        stop_all(list(chain.from_iterable(pairs.values())))
    return found


def rounds(both: Sequence[TimedWorker], calls: int, seconds: float) -> list[float]:
    """Run at least one round in random order; return the log ratios."""
    logs: list[float] = []
    spent_s = 0.0
    while not logs or spent_s < seconds:
        order = random.sample((0, 1), 2)
        turns = {side: both[side].turn(calls) for side in order}
        played = Round(0, turns[0], turns[1], baseline_first=order[0] == 0)
        logs.append(math.log(played.ratio))
        spent_s += played.wall_s
    return logs


def summed_up(way: str, kind: str, logs: Sequence[float]) -> Played:
    """Return the results of a pair. Its even and odd rounds differ by noise alone, not by the processes."""
    return Played(way, kind, median(logs), median(logs[::2]) - median(logs[1::2]))


def table(kind: str, ways: Sequence[Way], played: Sequence[Played]) -> Table:
    """Return a table of errors with one row per way of starting, for this kind of work or for all kinds."""
    rows = []
    for way in ways:
        mine = [one for one in played if one.way == way.name and (one.kind == kind or kind not in KINDS)]
        errors = [abs(one.error) for one in mine]
        rows.append(
            (
                way.name,
                len(mine),
                math.sqrt(fmean(error**2 for error in errors)),
                max(errors),
                sum(error > 0.01 for error in errors) / len(errors),
                math.sqrt(fmean(one.halves**2 for one in mine)) / 2,
            )
        )
    columns = (
        Column("twins"),
        Column("pairs", units.count),
        Column("rms", units.percent),
        Column("worst", units.percent),
        Column("beyond 1 %", units.percent),
        Column("rounds alone", units.percent),
    )
    return Table(kind, columns, tuple(rows))


if __name__ == "__main__":
    sys.exit(main())
