"""Tools that start processes of their own: pytest-benchmark and pyperf, each run by its command as its users do.

Start-up (an interpreter and its imports a process) is no timing: it shows in the time in all.
"""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from textwrap import indent

import pyperf
from judges import Said, Terms, calls_that_fill
from tally import rule_of_thumb
from workloads import Sides

from harness.findings import Finding

PYPERF_PROCESSES = 5
PYPERF_VALUES = 3
"""Values a process; a first one before them is its warm-up and counts as timing here."""


class ToolError(Exception):
    """A peer's command failed; its message carries what it printed."""


def pytest_benchmark(sides: Sides, terms: Terms) -> list[Said]:
    """One file with a test a side. Its table prints minimum and median beside each other: both are judged."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        order = random.sample([("baseline", sides.baseline), ("candidate", sides.candidate)], 2)
        tests = "".join(_BENCHMARK_TEST.format(side=side, body=_body(sides.setup, code)) for side, code in order)
        (folder / "test_sides.py").write_text(tests, encoding="utf-8")
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        options = [f"--benchmark-max-time={terms.budget_s / 2}", "--benchmark-json=told.json", "--benchmark-only"]
        _run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_sides.py"], folder)
        told = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    stats = {test["name"].removeprefix("test_"): test["stats"] for test in told["benchmarks"]}
    timing_s = sum(side["total"] * side["iterations"] for side in stats.values())
    slowdowns = {figure: stats["candidate"][figure] / stats["baseline"][figure] for figure in ("min", "median")}
    return [
        Said(figure, slowdown, rule_of_thumb(slowdown, terms.margin), timing_s)
        for figure, slowdown in slowdowns.items()
    ]


_BENCHMARK_TEST = """\
def prepared_{side}():
{body}
    return run


def test_{side}(benchmark):
    benchmark(prepared_{side}())


"""


def _body(setup: str, statement: str) -> str:
    return indent(f"{setup}\n\ndef run():\n{indent(statement, '    ')}\n", "    ")


def pyperf_timeit(sides: Sides, terms: Terms) -> list[Said]:
    """`pyperf timeit` in fewer processes than its 20, to keep the budget, and `pyperf compare_to`.

    Loops are given, since its own calibration doubles them until a value is long enough, and may double the budget.
    Judged twice: by the ratio of means that it prints, and with its own t-test besides (`--min-speed` is its word
    for the margin).
    """
    value_s = terms.budget_s / 2 / PYPERF_PROCESSES / (PYPERF_VALUES + 1)
    command = [sys.executable, "-m", "pyperf"]
    options = ["-q", "-p", str(PYPERF_PROCESSES), "-n", str(PYPERF_VALUES), "-w", "1", "--inherit-environ=PYTHONPATH"]
    with TemporaryDirectory() as name:
        folder = Path(name)
        for side, code in random.sample([("baseline", sides.baseline), ("candidate", sides.candidate)], 2):
            loops = calls_that_fill(code, sides.setup, value_s)
            asked = ["timeit", *options, "-l", str(loops), "--name=side", "-o", f"{side}.json"]
            _run([*command, *asked, "-s", sides.setup, code], folder)
        margin = ["--min-speed", str(100 * terms.margin)]
        compared = _run([*command, "compare_to", *margin, "baseline.json", "candidate.json"], folder)
        known = {side: pyperf.Benchmark.load(str(folder / f"{side}.json")) for side in ("baseline", "candidate")}
    slowdown = fmean(known["candidate"].get_values()) / fmean(known["baseline"].get_values())
    by_eye = rule_of_thumb(slowdown, terms.margin)
    by_test = Finding.SAME if "not significant" in compared.lower() else by_eye
    timing_s = sum(map(_sampled_s, known.values()))
    return [Said("mean", slowdown, by_eye, timing_s), Said("t-test", slowdown, by_test, timing_s)]


def _sampled_s(benchmark: pyperf.Benchmark) -> float:
    """Return seconds spent on values and on the warm-up values before them."""
    return float(
        sum(
            sum(loops * value_s for loops, value_s in run.warmups) + run.get_total_loops() * sum(run.values)
            for run in benchmark.get_runs()
        )
    )


def _run(command: list[str], folder: Path) -> str:
    """Run a command to its end in `folder` and return what it printed. Raises `ToolError` when it fails."""
    # A pytest around us must not tell the one within that it is one of several.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise ToolError(f"{' '.join(command[:4])} failed with code {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout
