"""Run the real `pytest --duel` on changes whose true costs are known, and count its mistakes.

    python tests/benchmarks/gate_real.py runs.jsonl --runs 100                       # changes that change nothing
    python tests/benchmarks/gate_real.py runs.jsonl --runs 30 --slower 3% --load bursty
    python tests/benchmarks/gate_real.py --instructions 3%                           # count the true ratios

Each run makes the project of `gate_project.py`, changes it, and compares it with its first version. With `--slower`,
one random benchmark of the ten is slower. A run is red by mistake if it is red for a benchmark whose true change is at
most the allowed one. A later command with the same options continues. The table shows all runs in the file.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import json_lines
from decisions import upper_bound
from environments import GATE, environment
from gate_project import BENCHMARKS, instructions, make, random_change, slow_down, tests
from neighbours import LOADS, disturbed
from rich.console import Console

from harness.gate.machine_readable import from_json
from harness.gate.outcomes import BenchmarkOutcome, GateRun
from harness.gate.settings import ALLOWED, number
from harness.paired.decide import robust_sd
from harness.paired.rounds import by_pair
from harness.rendering import units
from harness.rendering.tables import Heads, Table

Record = dict[str, Any]
SETTING = ("load", "slower", "allowed", "alone")


def gate(project: Path, python: str, base: str = "main", allowed: float = ALLOWED, names: str = "") -> GateRun:
    """Compare the project with `base`, a branch or a wheel, in the environment of this Python.

    `names` selects tests, as pytest's option `-k`.
    """
    report = project.with_name("run.json")
    command = [python, "-m", "pytest", "benchmarks", "--duel", base, "--duel-json", str(report)]
    options = ["--duel-allow", str(allowed), "-k", names, "-p", "no:cacheprovider"]
    done = subprocess.run([*command, *options], cwd=project, capture_output=True, text=True, check=False)
    run = from_json(report.read_text(encoding="utf-8")) if done.returncode in {0, 1} else None
    if run is None or done.returncode != bool(red_of(run)):
        raise RuntimeError(f"pytest ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return run


def red_of(run: GateRun) -> list[str]:
    """Return the names of the benchmarks that make a run red."""
    return [name_of(one) for one in run.outcomes if run.is_red(one)]


def name_of(outcome: BenchmarkOutcome) -> str:
    return outcome.name.partition("::test_")[2]


def one_run(load: str, slower: float, allowed: float, alone: bool, at: int, python: str) -> Record:
    """Return the record of a run. The number `at` determines the change. With `alone`, only what is slower is timed."""
    change = random_change(f"{slower} {at}", slower)
    with TemporaryDirectory() as folder:
        project = make(Path(folder) / "project", {"benchmarks/test_work.py": tests()})
        change.write(project)
        with disturbed(next(one for one in LOADS if one.name == load)):
            began_s = monotonic()
            run = gate(project, python, allowed=allowed, names=change.slowed if alone else "")
            spent_s = monotonic() - began_s
    setting = {"load": load, "slower": slower, "allowed": allowed, "alone": alone, "at": at}
    known = {"kind": change.kind, "slowed": change.slowed, "module": change.module, "spent_s": spent_s}
    found = {"red": red_of(run), "void": run.is_void, "outcomes": [*map(_outcome, run.outcomes)]}
    return {**setting, **known, **found}


def _outcome(one: BenchmarkOutcome) -> Record:
    pairs = [[each.base / each.here for each in rounds] for rounds in by_pair(one.rounds).values()]
    short = {"name": name_of(one), "verdict": one.verdict.value, "again": one.measured_again, "spent_s": one.spent_s}
    measured = one.change and [one.change.measured, one.change.low, one.change.high]
    return {**short, "change": measured, "ratios": [median(each) for each in pairs], "rounds": [*map(len, pairs)]}


def mistaken(record: Record) -> bool:
    """Whether a run was red for a benchmark whose true change is at most the allowed one."""
    return any(name != record["slowed"] or record["slower"] <= record["allowed"] for name in record["red"])


def table(records: Sequence[Record]) -> Table:
    """Return a row for each load, true change and allowed change. All shares but the last two are shares of runs."""
    heads: Heads = {
        "load": None, "slower": units.percent, "allowed": units.percent, "alone": None, "runs": units.count,
        "red by mistake": units.count, "at most (95 %)": units.percent, "void": units.count, "found": units.count,
        "undecided": units.percent, "again": units.percent, "pairs vary by": units.percent, "s per benchmark": None,
    }  # fmt: skip
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        groups.setdefault(tuple(record[key] for key in SETTING), []).append(record)
    return Table.of(
        "Runs of pytest --duel",
        heads,
        [(*key[:3], "yes" if key[3] else None, *_row(some)) for key, some in groups.items()],
    )


def _row(records: Sequence[Record]) -> tuple[float | None, ...]:
    wrong, outcomes = sum(map(mistaken, records)), [one for record in records for one in record["outcomes"]]
    slowed = [one for record in records for one in record["outcomes"] if one["name"] == record["slowed"]]
    return (
        *(len(records), wrong, upper_bound(wrong, len(records)), sum(record["void"] for record in records)),
        sum(one["verdict"] == "slower" for one in slowed) if slowed else None,
        sum(one["verdict"] == "undecided" for one in slowed or outcomes) / len(slowed or outcomes),
        sum(one["again"] for one in outcomes) / len(outcomes),
        median(robust_sd(one["ratios"]) for one in outcomes if one["ratios"]),
        round(median(record["spent_s"] / len(record["outcomes"]) for record in records), 1),
    )


def ratios_by_instructions(slower: float) -> Table:
    """Return the instructions of a call of each benchmark, and how many more it needs if it is made slower."""
    rows = []
    for name in BENCHMARKS:
        with TemporaryDirectory() as folder:
            project = make(Path(folder) / "project", {})
            before = instructions(project, name)
            slow_down(name, slower).write(project)
            rows.append((name, before, instructions(project, name) / before - 1))
    return Table.of("Instructions", {"benchmark": None, "per call": units.count, "more": units.percent}, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", help="the results, one line per run; a later command continues")
    parser.add_argument("--runs", type=int, default=0, help="of these options, with those in the file")
    parser.add_argument("--slower", default="0", help="of one benchmark: 1%%, 3%% or 5%%; without it, nothing changes")
    parser.add_argument("--load", choices=[load.name for load in LOADS], default="as it is")
    parser.add_argument("--allow", default="1%", help="as --duel-allow")
    parser.add_argument("--alone", action="store_true", help="measure only the benchmark that is slower")
    parser.add_argument("--instructions", help="count the true ratio of each benchmark that is slower by this")
    parser.add_argument("--environment", type=Path, help="with the small distribution alone, made if it is missing")
    options, console = parser.parse_args(), Console(width=None if sys.stdout.isatty() else 130)
    if options.instructions:
        console.print(ratios_by_instructions(number("--instructions", options.instructions, most=1)))
    if options.file:
        slower = number("--slower", options.slower, most=1) if options.slower != "0" else 0.0
        own = options.environment
        python = environment(own, GATE, "pytest-benchmark") if own else sys.executable
        setting = (options.load, slower, number("--allow", options.allow, most=1), options.alone)
        done = {(*(record[key] for key in SETTING), record["at"]) for record in json_lines.read(options.file)}
        for at in range(options.runs):
            if (*setting, at) not in done:
                json_lines.append(options.file, [one_run(*setting, at, python)])
        console.print(table(json_lines.read(options.file)))


if __name__ == "__main__":
    main()
