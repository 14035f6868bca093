"""Compare the verdicts of several tools on the same work, with known true costs, or count the false ones of a duel.

    python tests/benchmarks/verdicts.py verdicts.jsonl --verdicts 2      # 20 minutes; the next run continues
    python tests/benchmarks/verdicts.py duels.jsonl --duels 10000        # duels of equal code; hours

Each tool answers "Is the candidate slower than the baseline, and by how much?" within the same limit of time. The true
slowdown is known because the candidate does the same work for a larger count. The tools run in random order, on one
thread, with a new process for every repetition. With `--duels`, only duels judge: of equal code, and of code that
is 3 % or 5 % slower.

A verdict is *false* if the named side is not the faster side. SAME is false for code that is 3 % or 5 % slower.
UNDECIDED is never false.
"""

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from decisions import upper_bound
from judging import Job, Trial, read, run, scoreboard
from neighbours import LOADS
from rich.console import Console
from tools import STRICT, TOOLS
from workloads import ALL_WORKS, WORKS

from harness.machine.environment import Environment

TRUTHS = (1.0, 1.02, 1.05, 1.1, 1.25)
MIX: Final = ((1.0, 40), (1.03, 4), (1.05, 4))
"""The duels of a repetition, for each work and load: true slowdown, number of duels."""


def plan(verdicts: int) -> list[list[Job]]:
    """Return the jobs to run, in groups for one process: `verdicts` groups for each load and true slowdown.

    The kinds of work alternate. A repetition covers all loads and true slowdowns before the next one begins, so that an
    interrupted run has complete repetitions.
    """
    return [
        [Job(load.name, repetition, tool, WORKS[(repetition + turn + place) % len(WORKS)].name, truth)
         for tool in random.sample(list(TOOLS), len(TOOLS))]
        for repetition in range(verdicts)
        for turn, load in enumerate(LOADS)
        for place, truth in enumerate(TRUTHS)
    ]  # fmt: skip


def plan_duels(duels: int) -> Iterator[list[Job]]:
    """Yield groups with `duels` duels of equal code in total. Each repetition contains every work under every load."""
    equal = 0
    for number in count():
        for load in LOADS:
            for work in ALL_WORKS:
                for truth, each in MIX:
                    if equal >= duels:
                        return
                    equal += each if truth == 1.0 else 0
                    place = number * each
                    yield [Job(load.name, place + n, STRICT[0], work.name, truth) for n in range(each)]


def report_duels(trials: Sequence[Trial], console: Console) -> None:
    """Print a table for each true slowdown. All other verdicts than those in the table are right."""
    for truth, _ in MIX:
        if some := [one for one in trials if (one.job.truth, one.job.tool) == (truth, STRICT[0])]:
            bound = 100 * upper_bound(sum(one.false for one in some), len(some))
            console.print(scoreboard(f"True slowdown {truth:.2f}: at most {bound:.2g} % of verdicts are false", some))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the results, one line per verdict; a later run continues")
    number = parser.add_mutually_exclusive_group(required=True)
    number.add_argument("--verdicts", type=int, help="of every tool for each load and true slowdown")
    number.add_argument("--duels", type=int, help="run only duels, this number of them of equal code")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 130)
    console.print(Environment.capture().describe(), highlight=False)
    if options.duels is None:
        run(options.file, plan(options.verdicts))
        console.print(scoreboard("All loads together", read(options.file)))
        return 0
    run(options.file, plan_duels(options.duels))
    report_duels(read(options.file), console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
