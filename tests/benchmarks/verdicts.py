"""Compare the verdicts of several tools on the same work, with known true costs, on the same machine.

    python tests/benchmarks/verdicts.py verdicts.jsonl --verdicts 2      # 30 minutes; the next run continues
    python tests/benchmarks/verdicts.py verdicts.jsonl --report          # only the tables

Each tool answers "Is the candidate slower than the baseline, and by how much?" within the same limit of time. The true
slowdown is known because the candidate does the same work for a larger count. The tools run in random order, with a new
process for every repetition. So changes of the machine and of the memory layout affect all tools equally. All work uses
one thread.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from judging import Job, Trial, read, run, scoreboard
from neighbours import LOADS
from rich.console import Console
from tools import TOOLS
from workloads import WORKS

from harness.machine.environment import Environment

TRUTHS = (1.0, 1.02, 1.05, 1.1, 1.25)


def plan(verdicts: int, budget_s: float, tools: Sequence[str]) -> list[list[Job]]:
    """Return the jobs to run, in groups for one process: `verdicts` groups for each load and true slowdown.

    The kinds of work alternate. A repetition covers all loads and true slowdowns before the next one begins, so that an
    interrupted run has complete repetitions.
    """
    return [
        [Job(load.name, repetition, tool, WORKS[(repetition + turn + place) % len(WORKS)].name, truth, budget_s)
         for tool in random.sample(tools, len(tools))]
        for repetition in range(verdicts)
        for turn, load in enumerate(LOADS)
        for place, truth in enumerate(TRUTHS)
    ]  # fmt: skip


def report(trials: Sequence[Trial], console: Console) -> None:
    """Print a table of all trials under each load, and one of all trials."""
    for load in dict.fromkeys(one.job.load for one in trials):
        console.print(scoreboard(f"Machine: {load}", [one for one in trials if one.job.load == load]))
    console.print(scoreboard("All loads together", trials))


def main() -> int:
    """Let every tool judge, and print the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the results, one line per trial; a later run continues")
    parser.add_argument("--verdicts", type=int, default=10, help="of every tool for each load and true slowdown")
    parser.add_argument("--budget-s", type=float, default=1.0, help="wall seconds of timing for each verdict")
    parser.add_argument("--only", choices=TOOLS, nargs="+", default=list(TOOLS), help="tools")
    parser.add_argument("--report", action="store_true", help="print only the tables")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 130)
    console.print(Environment.capture().describe(), highlight=False)
    run(options.file, plan(0 if options.report else options.verdicts, options.budget_s, options.only))
    report(read(options.file), console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
