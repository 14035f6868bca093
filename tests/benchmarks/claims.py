"""Do the lessons claim what is so, or what is so on a quiet machine? Their claims, settled again and again under load.

    python tests/benchmarks/claims.py --times 3 --load bursty
    python tests/benchmarks/claims.py --load "as it is" --load full --lessons 05 06 --json claims.json

What `python -m lessons check-claims` does, `--times` over, beside the neighbours of each `--load` (`neighbours.py`).
Under each load every claim has its row: between which values it was measured, what was wanted, and how often it was
held, refuted, inconclusive and skipped.

A claim may well be inconclusive beside neighbours, and none should be refuted by them: whoever cannot tell says so.
Exit code 1 when one was refuted, or a lesson did not run to its end.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from neighbours import LOADS, Load, disturbed

from harness import units
from harness.errors import UsageError
from harness.tables import Heads, Table
from lessons.engine import tally
from lessons.engine.catalogue import entries
from lessons.engine.check_claims import chosen, run_all
from lessons.engine.claim import Standing
from lessons.engine.outputs import write_json
from lessons.engine.tally import Ran

Runs = Mapping[str, Sequence[Ran]]
"""The runs under each load, by its name."""


def main() -> int:
    """Run the lessons under each load, and print how every claim fared there."""
    parser = argparse.ArgumentParser(description="How the lessons' claims fare beside neighbours.")
    parser.add_argument("--times", type=int, default=3, help="runs of each lesson under each load")
    parser.add_argument("--load", action="append", choices=[load.name for load in LOADS], help="default: bursty")
    parser.add_argument("--lessons", nargs="*", default=[], help="beginnings of names, such as 05; default: all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write counts, claims and every run there")
    options = parser.parse_args()
    try:
        names = chosen(options.lessons, [entry.name for entry in entries()])
    except UsageError as error:
        parser.error(str(error))
    loads = [load for load in LOADS if load.name in (options.load or ["bursty"])]
    runs = under_each(loads, names, options.times, tell=partial(print, file=sys.stderr, flush=True))
    if options.json:
        write_json({load: tally.to_json(some, fast=True) for load, some in runs.items()}, options.json)
    print(report(runs))
    return 0 if all(tally.all_well(some) for some in runs.values()) else 1


def under_each(
    loads: Sequence[Load],
    lessons: Sequence[str],
    times: int,
    *,
    tell: Callable[[str], None],
    load_on: Callable[[Load], AbstractContextManager[None]] = disturbed,
) -> Runs:
    """Run all lessons `times` times under each load, which is on from first to last; `tell` what came of each run."""
    runs: dict[str, list[Ran]] = {load.name: [] for load in loads}
    for load in loads:
        with load_on(load):
            for turn in range(1, times + 1):
                for lesson in lessons:
                    runs[load.name] += run_all([lesson], 1, tell=lambda _: None)
                    tell(f"{load.name}, {turn} of {times}, {lesson}: {tally.summary(runs[load.name][-1:])}")
    return runs


def report(runs: Runs) -> str:
    """Return a table of all claims for each load, what went wrong there, and the sum of it all."""
    parts = []
    for load, some in runs.items():
        parts.append(table(load, some).to_text())
        parts += [f"{run.lesson} {run.fault}" for run in some if run.fault]
        parts.append(tally.summary(some))
    return "\n\n".join(parts)


def table(load: str, runs: Sequence[Ran]) -> Table:
    """Return how often each claim came to each verdict under one load."""
    heads: Heads = dict.fromkeys(("lesson", "claim", "measured", "wanted"))
    verdicts: Heads = dict.fromkeys([standing.value for standing in Standing], units.count)
    rows = [
        (fate.lesson, fate.id, fate.shown, fate.wanted, *(getattr(fate, standing.value) for standing in Standing))
        for fate in tally.fates(runs)
    ]
    return Table.of(f"Machine: {load}", {**heads, **verdicts}, rows)


if __name__ == "__main__":
    sys.exit(main())
