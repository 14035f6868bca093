"""Compare the verdicts of several tools on the same work, with known true costs, on the same machine.

    python tests/benchmarks/verdicts.py --json verdicts.json --svg verdicts.svg
    python tests/benchmarks/verdicts.py --quick
    python tests/benchmarks/verdicts.py --reach

Each tool answers "Is the candidate slower than the baseline, and by how much?" within the same time budget. The tools
are fairclock's duel, in this process and with paired processes, `timeit`, `torch.utils.benchmark`, pytest-benchmark and
pyperf. The true slowdown is known because the candidate does the same work for a larger count. The benchmark also
prints a long paired measurement of it. The tools run in random order, with a new process for every repetition. So
changes of the machine and of the memory layout affect all tools equally.

For a tool that gives no verdict, the rule of thumb of its users decides: a difference above 2 % is real. All work uses
one thread. With --json, an interrupted run continues where it stopped.
"""

import argparse
import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import reach
from jobs import Batch, BenchmarkError, Job
from ledger import Ledger
from neighbours import LOADS, disturbed
from rich.console import Console
from tally import MARGIN, TITLES, Trial, scoreboard, scores
from workloads import WORKS

from harness.machine.environment import Environment
from harness.paired import duel
from harness.rendering import units
from harness.rendering.tables import Column, Table

TRUTHS = (1.0, 1.02, 1.05, 1.1, 1.25)
QUICK = {
    "verdicts": 2,
    "budget_s": 0.5,
    "works": ["python loop", "matmul", "numba kernel"],
    "loads": ["as it is", "bursty"],
    "truths": [1.0, 1.05],
}
_CHECKS, _CHECK_S = 3, 1.5


def main() -> int:
    """Check the true slowdowns, let every tool judge, print and draw the scores."""
    options = _options()
    console = Console(width=None if sys.stdout.isatty() else 130)
    try:
        if options.reach:
            _reach(options, console)
        else:
            _compare(options, console)
    except BenchmarkError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(
            f"Interrupted. {'Repeat the command with the same --json to continue.' if options.json else ''}",
            file=sys.stderr,
        )
        return 130
    return 0


def plan(
    loads: Sequence[str],
    works: Sequence[str],
    truths: Sequence[float],
    tools: Sequence[str],
    verdicts: int,
    budget_s: float,
) -> list[Batch]:
    """Return the batches to run: `verdicts` batches under each load for each true slowdown.

    The kinds of work alternate. A repetition covers all loads and true slowdowns before the next one begins, so that an
    interrupted run has complete repetitions.
    """
    batches = []
    for repetition in range(verdicts):
        for turn, load in enumerate(loads):
            for place, truth in random.sample(list(enumerate(truths)), len(truths)):
                work = works[(repetition + turn + place) % len(works)]
                shuffled = random.sample(tools, len(tools))
                batches.append(Batch(load, repetition, tuple(Job(tool, work, truth, budget_s) for tool in shuffled)))
    return batches


def _compare(options: argparse.Namespace, console: Console) -> None:
    ledger = Ledger.opened(options.json, {"budget_s": options.budget_s, "margin": MARGIN})
    console.print(Environment.capture().describe(), highlight=False)
    console.print(
        f"{units.seconds(options.budget_s)} of timing for each verdict. For tools that give no verdict, a "
        f"difference above {units.percent(MARGIN)} is real. The start of processes counts in the total time only.",
        highlight=False,
    )
    for one in LOADS:
        if one.name in options.loads:
            console.print(f"  {one.name}: {one.says}", highlight=False)
    _play(_checks(options), ledger, console)
    console.print(truth_table(ledger.trials))
    cells = plan(options.loads, options.works, options.truths, options.only, options.verdicts, options.budget_s)
    _play(cells, ledger, console)
    by_load = scores(ledger.trials)
    if options.svg:
        from picture import svg

        options.svg.write_text(svg(by_load), encoding="utf-8")
    together = scores([replace(trial, load="all of these together") for trial in ledger.trials])
    for load, by_reading in {**by_load, **(together if len(by_load) > 1 else {})}.items():
        console.print(scoreboard(load, by_reading))


def _checks(options: argparse.Namespace) -> list[Batch]:
    """Return measurements of the true slowdowns, each from a few new processes without added load."""
    seconds, processes = (0.3, 1) if options.quick else (_CHECK_S, _CHECKS)
    return [
        Batch("as it is", number, tuple(Job("check", work, truth, seconds) for truth in options.truths))
        for number in range(processes)
        for work in options.works
    ]


def truth_table(trials: Sequence[Trial]) -> Table:
    """Return a table of the measured true slowdowns: one line per kind of work, with the median of its processes."""
    measured: dict[tuple[str, float], list[float]] = {}
    for trial in trials:
        if trial.tool == "check":
            measured.setdefault((trial.work, trial.truth), []).append(trial.judgement.slowdown)
    truths = sorted({truth for _, truth in measured})
    columns = (Column("slowdown by construction"), *(Column(f"{truth:.2f}", lambda x: f"{x:.4f}") for truth in truths))
    works = dict.fromkeys(work for work, _ in measured)
    rows = tuple(
        (work, *(median(measured[work, truth]) if (work, truth) in measured else None for truth in truths))
        for work in works
    )
    return Table("A long paired measurement of it, on the machine as it is", columns, rows)


def _play(batches: Iterable[Batch], ledger: Ledger, console: Console) -> None:
    """Run the batches that the ledger lacks. After the batches under one load, print the scores so far."""
    left = [batch for batch in batches if not ledger.holds(batch)]
    while left:
        load = next(load for load in LOADS if load.name == left[0].load)
        with disturbed(load), console.status(f"{load.name}: {len(left)} to go") as status:
            while left and left[0].load == load.name:
                status.update(f"{load.name}, {left[0].jobs[0].work}: {len(left)} to go")
                ledger.play(left.pop(0))
        by_load = scores(ledger.trials)
        if left and load.name in by_load:
            console.print(scoreboard(load.name, by_load[load.name]))


def _reach(options: argparse.Namespace, console: Console) -> None:
    ledger = Ledger.opened(options.json, {"reach": True, "budget_s": options.budget_s, "margin": options.margin})
    tools = [tool for tool in options.only if tool in {"duel", "paired"}]
    console.print(Environment.capture().describe(), highlight=False)
    console.print(
        f"{units.seconds(options.budget_s)} of timing for each verdict, margin {units.percent(options.margin)}"
    )
    batches = reach.plan(tools, options.budget_s, options.margin, share=0.1 if options.quick else 1.0)
    _play(batches, ledger, console)
    for table in reach.tables(ledger.trials):
        console.print(table)


def _listed(text: str) -> list[str]:
    return [one.strip() for one in text.split(",")]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    works, loads = [work.name for work in WORKS], [load.name for load in LOADS]
    parser.add_argument(
        "--verdicts", type=int, default=10, help="verdicts of every tool for each load and true slowdown"
    )
    parser.add_argument("--budget-s", type=float, default=1.0, help="wall seconds of timing for each verdict")
    parser.add_argument("--works", default=works, type=_listed, help=f"comma-separated, of {', '.join(works)}")
    parser.add_argument("--loads", default=loads, type=_listed, help=f"comma-separated, of {', '.join(loads)}")
    parser.add_argument("--only", default=list(TITLES), type=_listed, help=f"tools, of {', '.join(TITLES)}")
    parser.add_argument("--truths", default=list(TRUTHS), type=lambda text: [float(one) for one in text.split(",")])
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a run of a few minutes: fewer verdicts, loads and works, and a smaller budget",
    )
    parser.add_argument(
        "--reach", action="store_true", help="only fairclock's tools, and the figures that must reach a goal"
    )
    parser.add_argument(
        "--margin", type=float, default=duel.MARGIN, help="for --reach: the largest difference called SAME"
    )
    parser.add_argument("--json", type=Path, help="save every judgement in this file, and continue from it")
    parser.add_argument("--svg", type=Path, help="draw the scores in this file")
    options = parser.parse_args()
    if options.quick and not options.reach:
        parser.set_defaults(**QUICK)
        options = parser.parse_args()
    for name, known in (("works", works), ("loads", loads), ("only", list(TITLES))):
        if unknown := set(getattr(options, name)) - set(known):
            parser.error(f"--{name} does not know {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
