"""Count how often a duel gives a false verdict, in thousands of duels of code with a known true ratio.

    python tests/benchmarks/counted.py counted.jsonl                   # 10,000 duels of equal code; hours
    python tests/benchmarks/counted.py counted.jsonl --minutes 30      # a part of them; the next run continues
    python tests/benchmarks/counted.py counted.jsonl --report          # only the table

The duels compare equal code, and code that is 3 % or 5 % slower, on all kinds of work and under all loads. Most duels
run in one process, as `duel` does by default. Some use paired processes. Each duel has a limit of one second for its
measurements. Every batch of duels has a new process, and so a new memory layout.

The file has a line for each duel. The line of a false verdict contains the table of its pairs, which `--explain`
prints. A verdict is *false* if the named side is not the faster side. SAME is false for code
that is 3 % or 5 % slower. UNDECIDED is never false. The bound is one-sided, 95 % (Clopper and Pearson 1934). The
exit code is 1 if more than `MOST_FALSE` verdicts on equal code are FASTER or SLOWER.
"""

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from statistics import median
from typing import Final

import json_lines
from decisions import upper_bound
from judging import environment
from neighbours import LOADS, disturbed
from workloads import ALL_WORKS, work_named

from harness.machine.environment import Environment
from harness.paired.duel import Duel, Finding, duel
from harness.rendering import units
from harness.rendering.tables import Heads, Table

HERE: Final = Path(__file__).parent
BUDGET_S: Final = 1.0
MOST_FALSE: Final = 3
"""The largest accepted number of false verdicts in 10,000 duels of equal code."""

EQUAL: Final = 1.0


@dataclass(frozen=True, slots=True)
class Batch:
    """Duels of one kind that run one after the other in a new process. `truth` is the true slowdown."""

    load: str
    work: str
    truth: float
    paired_processes: bool
    duels: int
    number: int


@dataclass(frozen=True, slots=True)
class Fought:
    """A duel's result: the verdict, the ratio (the baseline's time divided by the candidate's), and its interval."""

    load: str
    work: str
    truth: float
    paired_processes: bool
    number: int
    verdict: str
    ratio: float
    low: float
    high: float
    spent_s: float
    table: str = ""

    @property
    def false(self) -> bool:
        """Whether the verdict contradicts the true slowdown."""
        if self.truth == EQUAL:
            return self.verdict in (Finding.FASTER, Finding.SLOWER)
        return self.verdict in (Finding.FASTER, Finding.SAME)

    @property
    def found(self) -> bool:
        """Whether the verdict states the true slowdown."""
        return self.verdict == (Finding.SAME if self.truth == EQUAL else Finding.SLOWER)

    @property
    def error(self) -> float:
        """The absolute value of log(measured ratio ÷ true ratio)."""
        return abs(math.log(self.ratio * self.truth))


MIX: Final = ((EQUAL, False, 40), (1.03, False, 4), (1.05, False, 4), (EQUAL, True, 1))
"""The duels of a repetition, for each work and load: true slowdown, paired processes, number of duels."""

PAIRED_EACH: Final = 4
"""One of this many repetitions contains the duels with paired processes. Such a duel starts ten processes, which takes
as long as 40 other duels."""


def plan(loads: Sequence[str], works: Sequence[str]) -> Iterator[Batch]:
    """Yield batches without end. Each repetition contains every work under every load."""
    for number in count():
        for load in loads:
            for work in works:
                for truth, paired_processes, duels in MIX:
                    if not paired_processes or number % PAIRED_EACH == 0:
                        yield Batch(load, work, truth, paired_processes, duels, number)


def read(path: Path) -> list[Fought]:
    """Return the duels in the file."""
    return [Fought(**told) for told in json_lines.read(path)]


def run(path: Path, loads: Sequence[str], works: Sequence[str], duels: int, seconds: float) -> None:
    """Run the batches that the file lacks, until it has `duels` duels of equal code or the time is over."""
    fought, end_s = read(path), time.monotonic() + seconds
    done = {(one.load, one.work, one.truth, one.paired_processes, one.number) for one in fought}
    equal = sum(one.truth == EQUAL for one in fought)
    batches = (
        batch
        for batch in plan(loads, works)
        if (batch.load, batch.work, batch.truth, batch.paired_processes, batch.number) not in done
    )
    batch = next(batches)
    while equal < duels and time.monotonic() < end_s:
        load = next(load for load in LOADS if load.name == batch.load)
        with disturbed(load):
            while batch.load == load.name and equal < duels and time.monotonic() < end_s:
                new = in_new_process(batch)
                json_lines.append(path, new)
                equal += sum(one.truth == EQUAL for one in new)
                for one in new:
                    if one.false:
                        print(described(one), flush=True)
                batch = next(batches)


def in_new_process(batch: Batch) -> list[Fought]:
    """Run the batch in a new process, and return its results."""
    command = [sys.executable, str(HERE / "counted.py"), "--batch", json.dumps(asdict(batch))]
    ended = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, text=True, check=True)
    return [Fought(**one) for one in json.loads(ended.stdout)]


def fight(batch: Batch) -> list[Fought]:
    """Run the batch in this process."""
    sides = work_named(batch.work).sides(batch.truth)
    results = []
    for _ in range(batch.duels):
        found = duel(
            sides.candidate,
            sides.baseline,
            setup=sides.setup,
            budget_s=BUDGET_S,
            paired_processes=batch.paired_processes,
        )
        results.append(_fought(batch, found))
    return results


def _fought(batch: Batch, found: Duel) -> Fought:
    one = Fought(
        *(batch.load, batch.work, batch.truth, batch.paired_processes, batch.number),
        *(str(found.verdict), found.ratio, found.low, found.high, found.spent_s),
    )
    return replace(one, table=found.table()) if one.false else one


def described(one: Fought) -> str:
    """Return a false verdict and what its rounds show, as text."""
    title = f"{one.load}, {one.work}, true slowdown {one.truth}: {one.verdict}, {one.ratio:.4f}"
    lines = [f"{title} ({one.low:.4f} to {one.high:.4f})"]
    return "\n".join([*lines, one.table] if one.table else lines)


def report(fought: Sequence[Fought]) -> Table:
    """Return the table: a line for each load and true slowdown, and a line for all loads together."""
    columns: Heads = {
        "load": None,
        "true slowdown": None,
        "paired processes": None,
        "duels": units.count,
        "false": units.count,
        "false at most": lambda share: f"{100 * share:.2g} %",
        "right": units.percent,
        "undecided": units.percent,
        "error, median": units.percent,
        "p95": units.percent,
        "worst": units.percent,
    }
    kinds = dict.fromkeys((truth, twins) for truth, twins, _ in MIX)
    loads = [*dict.fromkeys(one.load for one in fought)]
    rows = []
    for truth, twins in kinds:
        some = [one for one in fought if (one.truth, one.paired_processes) == (truth, twins)]
        for name, part in (("all", some), *((load, [one for one in some if one.load == load]) for load in loads)):
            if part:
                rows.append(_row(name, truth, twins, part))
    return Table.of(f"Verdicts within {units.seconds(BUDGET_S)}", columns, rows)


def _row(name: str, truth: float, twins: bool, part: Sequence[Fought]) -> tuple[str | float, ...]:
    false, errors = sum(one.false for one in part), sorted(one.error for one in part)
    undecided = sum(one.verdict == Finding.UNDECIDED for one in part)
    return (
        *(name, f"{truth:.2f}", "yes" if twins else "no", len(part), false, upper_bound(false, len(part))),
        *(sum(one.found for one in part) / len(part), undecided / len(part)),
        *(median(errors), errors[int(0.95 * (len(errors) - 1))], errors[-1]),
    )


def main() -> int:
    """Run the duels that are left, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", help="the results, one line per duel; a later run continues")
    parser.add_argument("--duels", type=int, default=10_000, help="duels of equal code")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--loads", default=[load.name for load in LOADS], type=lambda text: text.split(","))
    parser.add_argument("--works", default=[work.name for work in ALL_WORKS], type=lambda text: text.split(","))
    parser.add_argument("--report", action="store_true", help="print only the table")
    parser.add_argument("--explain", action="store_true", help="print the pairs of each false verdict")
    parser.add_argument("--batch", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.batch:
        json.dump([asdict(one) for one in fight(Batch(**json.loads(options.batch)))], sys.stdout)
        return 0
    if options.file is None:
        parser.error("Give a file for the results, such as counted.jsonl.")
    if not options.report:
        print(Environment.capture().describe(), flush=True)
        run(options.file, options.loads, options.works, options.duels, 60 * options.minutes)
    fought = read(options.file)
    if options.explain:
        print("\n\n".join(described(one) for one in fought if one.false))
    print(report(fought).to_text())
    return int(sum(one.false for one in fought if one.truth == EQUAL) > MOST_FALSE)


if __name__ == "__main__":
    sys.exit(main())
