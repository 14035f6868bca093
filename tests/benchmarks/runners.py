"""Compare two pieces of code with tools that start their own processes: pytest-benchmark and pyperf.

Each tool is run by its command, as users do. The start of a process (interpreter and imports) is not part of the time
limit, but of the total time.
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

from harness.paired.duel_result import Finding

PYPERF_PROCESSES = 5
PYPERF_VALUES = 3
"""The values per process. Another value before them is its warm-up and counts as timing here."""


class ToolError(Exception):
    """A tool's command failed. The message contains its output."""


def pytest_benchmark(sides: Sides, terms: Terms) -> list[Said]:
    """Judge with pytest-benchmark: one file with a test per side.

    Its table shows minimum and median. Each of them gets a verdict.
    """
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
    """Judge with `pyperf timeit` and `pyperf compare_to`.

    It uses fewer processes than its usual 20, to keep the budget. The number of loops is given, because pyperf's own
    calibration doubles them until a value is long enough, which may double the time. It gets two verdicts. One is from
    the ratio of means that it prints; the other also uses its t-test (its option for the margin is `--min-speed`).
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
    """Return the seconds spent on values and on the warm-up values before them."""
    return float(
        sum(
            sum(loops * value_s for loops, value_s in run.warmups) + run.get_total_loops() * sum(run.values)
            for run in benchmark.get_runs()
        )
    )


def _run(command: list[str], folder: Path) -> str:
    """Run a command to its end in `folder` and return its output. Raises `ToolError` when it fails."""
    # The inner pytest must not inherit the worker variables of an outer pytest.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise ToolError(f"{' '.join(command[:4])} failed with code {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout
