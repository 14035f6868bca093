"""Count how often a duel gives a false verdict, in thousands of duels of code with a known true ratio.

    python tests/benchmarks/counted.py counted.jsonl                   # 10,000 duels of equal code; hours
    python tests/benchmarks/counted.py counted.jsonl --minutes 30      # a part of them; the next run continues
    python tests/benchmarks/counted.py counted.jsonl --report          # only the tables

The duels compare equal code, and code that is 3 % or 5 % slower, on all kinds of work and under all loads. Most duels
run in one process, as `duel` does by default. Some use paired processes. Each duel has a limit of one second for its
measurements. Every group of duels has a new process, and so a new memory layout.

The file has a line for each duel. A verdict is *false* if the named side is not the faster side. SAME is false for code
that is 3 % or 5 % slower. UNDECIDED is never false. The bound is one-sided, 95 % (Clopper and Pearson 1934). The
exit code is 1 if more than `MOST_FALSE` verdicts on equal code are FASTER or SLOWER.
"""

import argparse
import math
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from decisions import upper_bound
from judging import Job, Trial, read, run, scoreboard
from neighbours import LOADS
from rich.console import Console
from tools import STRICT
from workloads import ALL_WORKS

from harness.machine.environment import Environment

BUDGET_S: Final = 1.0
MOST_FALSE: Final = 3
"""The largest accepted number of false verdicts in 10,000 duels of equal code."""

ALONE, PAIRED = STRICT
MIX: Final = ((1.0, ALONE, 40), (1.03, ALONE, 4), (1.05, ALONE, 4), (1.0, PAIRED, 1))
"""The duels of a repetition, for each work and load: true slowdown, tool, number of duels."""

PAIRED_EACH: Final = 4
"""One of this many repetitions contains the duels with paired processes. Such a duel starts ten processes, which takes
as long as 40 other duels."""


def plan(duels: int, seconds: float) -> Iterator[list[Job]]:
    """Yield groups with `duels` duels of equal code in total, or fewer if the time is over.

    Each repetition contains every work under every load.
    """
    end_s, equal = time.monotonic() + seconds, 0
    for number in count():
        for load in LOADS:
            for work in ALL_WORKS:
                for truth, tool, each in MIX:
                    if equal >= duels or time.monotonic() >= end_s:
                        return
                    if tool == ALONE or number % PAIRED_EACH == 0:
                        equal += each if truth == 1.0 else 0
                        place = number * each
                        yield [Job(load.name, place + n, tool, work.name, truth, BUDGET_S) for n in range(each)]


def report(trials: Sequence[Trial], console: Console) -> None:
    """Print a table for each true slowdown and tool. All other verdicts than those in the table are right."""
    for truth, tool, _ in MIX:
        if some := [one for one in trials if (one.job.truth, one.job.tool) == (truth, tool)]:
            bound = 100 * upper_bound(sum(one.false for one in some), len(some))
            console.print(scoreboard(f"True slowdown {truth:.2f}: at most {bound:.2g} % of verdicts are false", some))


def main() -> int:
    """Run the duels that are left, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the results, one line per duel; a later run continues")
    parser.add_argument("--duels", type=int, default=10_000, help="duels of equal code")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--report", action="store_true", help="print only the tables")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 130)
    console.print(Environment.capture().describe(), highlight=False)
    run(options.file, plan(0 if options.report else options.duels, 60 * options.minutes))
    trials = read(options.file)
    report(trials, console)
    return int(sum(one.false for one in trials if one.job.truth == 1.0) > MOST_FALSE)


if __name__ == "__main__":
    sys.exit(main())
