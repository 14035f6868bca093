"""Judge the same changes with `pytest --duel` and with other tools, and count false alarms and misses.

    python tests/benchmarks/gate_tools.py judged.jsonl --changes 50 --environments DIR

Each tool gets a virtual environment in DIR, which the script makes with pip, and measures the ten benchmarks of
`gate_project.py` before and after a change, with its usual settings; benchmatrix measures both in pairs. Its verdict
with a threshold is the one of its own command: pyperf's `compare_to --min-speed`, asv's `compare --factor`, and
benchmatrix's `compare --threshold`. pytest-benchmark fails a run if the minimum or the median has grown by more than a
threshold, as its option `--benchmark-compare-fail` does.

A false alarm is a change after which a tool calls any benchmark slower that is not. A miss is a change that makes a
benchmark slower by more than the threshold, and the tool does not name it. A later command continues.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from shutil import copytree
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final

import json_lines
from environments import GATE, environment
from gate_project import BENCHMARKS, SourceChange, call_of, commit, make, random_change, tests
from gate_real import gate, red_of
from neighbours import LOADS, disturbed
from rich.console import Console

from harness.rendering import units
from harness.rendering.tables import Heads, Table

MIX: Final = (0.0, 0.03, 0.0, 0.05, 0.15)
"""By how much one benchmark becomes slower, of five changes in turn."""

THRESHOLDS: Final = (0.01, 0.02, 0.05, 0.1)

Flagged = dict[str, list[str]]
"""The benchmarks that a tool calls slower, for each of its figures and thresholds."""

_IMPORT: Final = "from work import shapes, texts, values\n"
_NAMED: Final = "{" + ", ".join(f"{name!r}: lambda: {call_of(name)}" for name in BENCHMARKS) + "}"
_PYPERF: Final = f"import sys\nsys.path.insert(0, '.')\nimport pyperf\n{_IMPORT}runner = pyperf.Runner()\n" + "".join(
    f"runner.bench_func({name!r}, lambda: {call_of(name)})\n" for name in BENCHMARKS
)
_ASV: Final = _IMPORT + "".join(f"def time_{name}(): {call_of(name)}\n" for name in BENCHMARKS)
_MATRIX: Final = (
    f"import benchmatrix\n{_IMPORT}test_all = benchmatrix.make_benchmark_test({_NAMED}, "
    '[benchmatrix.BenchmarkCase("usual")], metrics=["single_call_latency"])\n'
)
# Each environment of asv imports the sources from its own checkout, because nothing has to be built.
_LINK: Final = (
    "python -c \"import sys, sysconfig, pathlib; pathlib.Path(sysconfig.get_path('purelib'), 'work.pth')"
    '.write_text(sys.argv[1])" {build_dir}'
)
_ASV_CONFIG: Final = {
    "version": 1, "project": "work", "repo": ".", "branches": ["main"], "environment_type": "virtualenv",
    "benchmark_dir": "benchmarks", "env_dir": ".asv/env", "results_dir": ".asv/results", "build_command": [],
    "install_command": [_LINK], "uninstall_command": [],
}  # fmt: skip
_PACKAGE: Final = {"benchmarks/__init__.py": "", "asv.conf.json": json.dumps(_ASV_CONFIG)}


def run(command: Sequence[str], project: Path, most: int = 0) -> str:
    """Return the output of a command of a tool. Raise `RuntimeError` if its exit code is above `most`."""
    environment = {**os.environ, "HOME": str(project.parent)}  # asv writes its file on the machine there
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    if done.returncode > most:
        raise RuntimeError(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def duel(project: Path, change: SourceChange, python: str) -> Flagged:
    change.write(project)
    return {"0.01": red_of(gate(project, python))}


def pytest_benchmark(project: Path, change: SourceChange, python: str) -> Flagged:
    def measured(name: str) -> dict[str, dict[str, float]]:
        run([python, "-m", "pytest", "benchmarks", "-q", f"--benchmark-json=../{name}"], project)
        told = json.loads((project.parent / name).read_text(encoding="utf-8"))
        return {one["name"].removeprefix("test_"): one["stats"] for one in told["benchmarks"]}

    base = measured("base.json")
    change.write(project)
    here = measured("here.json")
    return {
        f"{threshold} {figure}": [name for name in base if here[name][figure] > base[name][figure] * (1 + threshold)]
        for threshold, figure in product(THRESHOLDS, ("min", "median"))
    }


def pyperf(project: Path, change: SourceChange, python: str) -> Flagged:
    run([python, "benchmarks/all.py", "-q", "-o", "../base.json"], project)
    change.write(project)
    run([python, "benchmarks/all.py", "-q", "-o", "../here.json"], project)
    compare = [python, "-m", "pyperf", "compare_to", "../base.json", "../here.json", "--min-speed"]
    told = {threshold: run([*compare, f"{100 * threshold:g}"], project) for threshold in THRESHOLDS}
    return {str(threshold): re.findall(r"^(\w+): .*x slower", text, re.MULTILINE) for threshold, text in told.items()}


def asv(project: Path, change: SourceChange, python: str) -> Flagged:
    subprocess.run(["git", "checkout", "-q", "-b", "change"], cwd=project, check=True)
    change.write(project)
    commit(project)
    command = [python, "-m", "asv"]
    run([*command, "machine", "--yes"], project)
    run([*command, "continuous", "main", "change", "--factor", "1.01"], project, most=1)
    compare = [*command, "compare", "main", "change", "--factor"]
    told = {threshold: run([*compare, str(1 + threshold)], project) for threshold in THRESHOLDS}
    return {str(threshold): re.findall(r"^\| \+ .*time_(\w+)", text, re.MULTILINE) for threshold, text in told.items()}


def benchmatrix(project: Path, change: SourceChange, python: str) -> Flagged:
    command = [python, "-m", "benchmatrix"]
    copytree(project, project.with_name("base"))
    change.write(project)
    suite = [python, "-m", "pytest", "-q", "benchmarks/test_work.py"]
    folders = ["--output", "../pairs", "--baseline-cwd", "../base", "--candidate-cwd", "."]
    run([*command, "collect-paired", *folders, "--", *suite, ":::", *suite], project)
    flagged = {}
    for threshold in THRESHOLDS:
        options = ["--no-config", "--format", "json", "--threshold", f"{100 * threshold:g}%"]
        told = json.loads(run([*command, "compare", "--paired", "../pairs", *options], project))
        flagged[str(threshold)] = [
            one["implementation_name"] for one in told["comparisons"] if one["regression"] == "regressed"
        ]
    return flagged


Judge = Callable[[Path, SourceChange, str], Flagged]
TOOLS: Final[dict[str, tuple[Judge, tuple[str, ...], dict[str, str]]]] = {
    "pytest --duel": (duel, (GATE,), {"benchmarks/test_work.py": tests()}),
    "pytest-benchmark": (pytest_benchmark, ("pytest-benchmark",), {"benchmarks/test_work.py": tests()}),
    "pyperf": (pyperf, ("pyperf",), {"benchmarks/all.py": _PYPERF}),
    "asv": (asv, ("asv", "virtualenv"), {**_PACKAGE, "benchmarks/all.py": _ASV}),
    "benchmatrix": (benchmatrix, ("benchmatrix",), {"benchmarks/test_work.py": _MATRIX}),
}
"""Each tool, the packages that it needs, and its files in the project."""


def judged(tool: str, at: int, load: str, environments: Path) -> dict[str, Any]:
    """Return the record of a tool's verdicts about the change number `at`."""
    judge, packages, files = TOOLS[tool]
    python, change = environment(environments / tool, *packages), random_change(f"tools {at}", MIX[at % len(MIX)])
    with TemporaryDirectory() as folder:
        project = make(Path(folder) / "project", files)
        with disturbed(next(one for one in LOADS if one.name == load)):
            began_s = monotonic()
            flagged = judge(project, change, python)
            spent_s = monotonic() - began_s
    known = {"kind": change.kind, "slowed": change.slowed, "slower": MIX[at % len(MIX)], "spent_s": spent_s}
    return {"tool": tool, "at": at, "load": load, **known, "flagged": flagged}


def table(records: Sequence[dict[str, Any]]) -> Table:
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for record in records:
        for figure in record["flagged"]:
            groups.setdefault((record["load"], record["tool"], figure), []).append(record)
    rows = []
    for (load, tool, figure), some in sorted(groups.items()):
        larger = [one for one in some if one["slower"] > float(figure.split()[0])]
        alarms = sum(bool({*one["flagged"][figure]} - {one["slowed"]}) for one in some)
        misses = sum(one["slowed"] not in one["flagged"][figure] for one in larger)
        spent_s = median(one["spent_s"] for one in some)
        rows.append((load, tool, figure, len(some), alarms, f"{misses} of {len(larger)}", round(spent_s)))
    heads: Heads = {"load": None, "tool": None, "threshold": None, "changes": units.count}
    return Table.of("Tools", {**heads, "false alarms": units.count, "misses": None, "seconds per change": None}, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the results, one line per change and tool; a later command continues")
    parser.add_argument("--changes", type=int, default=0)
    parser.add_argument("--environments", type=Path, default=Path("environments"), help="a folder for the tools")
    parser.add_argument("--load", choices=[load.name for load in LOADS], default="as it is")
    parser.add_argument("--tools", nargs="+", choices=list(TOOLS), default=list(TOOLS))
    options = parser.parse_args()
    done = {(one["tool"], one["at"], one["load"]) for one in json_lines.read(options.file)}
    for at, tool in product(range(options.changes), options.tools):
        if (tool, at, options.load) not in done:
            json_lines.append(options.file, [judged(tool, at, options.load, options.environments)])
    Console(width=None if sys.stdout.isatty() else 130).print(table(json_lines.read(options.file)))


if __name__ == "__main__":
    main()
