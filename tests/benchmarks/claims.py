"""Check the lessons' claims again and again while other programs load the machine.

    python tests/benchmarks/claims.py --times 3 --load bursty
    python tests/benchmarks/claims.py --load "as it is" --load full --lessons 05 06 --json claims.json

For each `--load` (a kind of load from `neighbours.py`), it runs `python -m lessons check-claims` `--times` times. It
prints a table with one row per claim. A row has the range of the measured values, the claimed range, and the number of
runs with each result: held, refuted, inconclusive and skipped.

Under load a claim may be inconclusive, but must not be refuted. The exit code is 1 if a claim was refuted, or if a
lesson did not run to its end.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from neighbours import LOADS, Load, disturbed

from harness.errors import UsageError
from harness.rendering import units
from harness.rendering.tables import Heads, Table
from lessons.engine import check_claims
from lessons.engine.catalogue import lesson_names
from lessons.engine.check_claims import LessonRun, chosen, run_all
from lessons.engine.interval import Standing
from lessons.engine.outputs import write_json

Runs = Mapping[str, Sequence[LessonRun]]
"""The results of all runs, by the name of the load."""


def main() -> int:
    """Run the lessons under each load, and print the verdicts on every claim."""
    parser = argparse.ArgumentParser(description="Check the lessons' claims while other programs load the machine.")
    parser.add_argument("--times", type=int, default=3, help="runs of each lesson under each load")
    parser.add_argument("--load", action="append", choices=[load.name for load in LOADS], help="default: bursty")
    parser.add_argument("--lessons", nargs="*", default=[], help="beginnings of names, such as 05; default: all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write counts, claims and every run to this file")
    options = parser.parse_args()
    try:
        names = chosen(options.lessons, lesson_names())
    except UsageError as error:
        parser.error(str(error))
    loads = [load for load in LOADS if load.name in (options.load or ["bursty"])]
    runs = under_each(loads, names, options.times, tell=partial(print, file=sys.stderr, flush=True))
    if options.json:
        write_json({load: check_claims.to_json(some, fast=True) for load, some in runs.items()}, options.json)
    print(report(runs))
    return 0 if all(check_claims.all_well(some) for some in runs.values()) else 1


def under_each(
    loads: Sequence[Load],
    lessons: Sequence[str],
    times: int,
    *,
    tell: Callable[[str], None],
    load_on: Callable[[Load], AbstractContextManager[None]] = disturbed,
) -> Runs:
    """Run all lessons `times` times under each load. `tell` is called with the result of each run.

    A load stays on from its first run to its last.
    """
    runs: dict[str, list[LessonRun]] = {load.name: [] for load in loads}
    for load in loads:
        with load_on(load):
            for turn in range(1, times + 1):
                for lesson in lessons:
                    runs[load.name] += run_all([lesson], 1, report=lambda _: None)
                    tell(f"{load.name}, {turn} of {times}, {lesson}: {check_claims.summary(runs[load.name][-1:])}")
    return runs


def report(runs: Runs) -> str:
    """Return the report: for each load, a table of all claims, the failed lessons, and the totals."""
    parts = []
    for load, some in runs.items():
        parts.append(table(load, some).to_text())
        parts += [f"{run.lesson} {run.fault}" for run in some if run.fault]
        parts.append(check_claims.summary(some))
    return "\n\n".join(parts)


def table(load: str, runs: Sequence[LessonRun]) -> Table:
    """Return a table of how often each claim got each verdict under one load."""
    heads: Heads = dict.fromkeys(("lesson", "claim", "measured", "wanted"))
    verdicts: Heads = dict.fromkeys([standing.value for standing in Standing], units.count)
    rows = [
        (fate.lesson, fate.id, fate.shown, fate.wanted, *(getattr(fate, standing.value) for standing in Standing))
        for fate in check_claims.summaries(runs)
    ]
    return Table.of(f"Machine: {load}", {**heads, **verdicts}, rows)


if __name__ == "__main__":
    sys.exit(main())
