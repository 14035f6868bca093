"""Compare two pieces of code with several timing tools: fairclock, `timeit`, torch, pytest-benchmark and pyperf.

A tool gets a baseline and a candidate, and times both within `BUDGET_S`. It returns the candidate's time divided by the
baseline's. Tools that time one after the other get half of the limit for each, in random order. For tools that give
no verdict, a rule of thumb of their users decides. pytest-benchmark and pyperf are run by their commands, as users do.
The start of their processes is not part of the time limit, but of the total time.
"""

import json
import os
import random
import subprocess
import sys
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from textwrap import indent
from typing import Final

import pyperf
from torch.utils.benchmark import Timer
from workloads import Sides

from harness.paired.duel import Finding, duel

MARGIN: Final = 0.02
"""The largest difference that counts as no difference. Users who compare two timings ignore such a difference."""

BUDGET_S: Final = 1.0
"""The seconds of wall time in which a tool may time both sides of a comparison."""

TIMEIT_REPEATS: Final = 5
PYPERF_PROCESSES: Final = 5
PYPERF_VALUES: Final = 3
"""The values per process. Another value before them is its warm-up and counts as timing here."""

_CALIBRATED_S, _TRIES = 0.01, 3


@dataclass(frozen=True, slots=True)
class Said:
    """One result of a tool: the measured slowdown, the verdict, and the wall seconds of its samples.

    `figure` distinguishes several results of one tool; it is empty for a single result.
    """

    figure: str
    slowdown: float
    verdict: Finding
    timing_s: float


def rule_of_thumb(slowdown: float, margin: float = MARGIN) -> Finding:
    if slowdown > 1 + margin:
        return Finding.SLOWER
    return Finding.FASTER if slowdown < 1 / (1 + margin) else Finding.SAME


def fairclock(sides: Sides, margin: float = MARGIN) -> list[Said]:
    found = duel(sides.candidate, sides.baseline, setup=sides.setup, margin=margin, budget_s=BUDGET_S)
    return [Said("", 1 / found.ratio, found.verdict, found.spent_s)]


def timeit_min(sides: Sides) -> list[Said]:
    """Judge with `timeit`: the shortest of five repeats per side."""

    def measure(statement: str) -> tuple[float, float]:
        calls = _calls_that_fill(statement, sides.setup, BUDGET_S / 2 / TIMEIT_REPEATS)
        repeats_s = timeit.repeat(statement, sides.setup, repeat=TIMEIT_REPEATS, number=calls)
        return min(repeats_s) / calls, sum(repeats_s)

    return _one_after_the_other(sides, measure)


def torch_autorange(sides: Sides, *, adaptive: bool) -> list[Said]:
    """Judge with a method of torch's `Timer`: medians, as `Compare` prints them.

    `adaptive_autorange` stops when its samples agree, often long before its limit.
    """

    def measure(statement: str) -> tuple[float, float]:
        timer, half_s = Timer(statement, sides.setup), BUDGET_S / 2
        if adaptive:
            measured = timer.adaptive_autorange(max_run_time=half_s)
        else:
            measured = timer.blocked_autorange(min_run_time=half_s)
        return measured.median, sum(measured.raw_times)

    return _one_after_the_other(sides, measure)


def pytest_benchmark(sides: Sides) -> list[Said]:
    """Judge with pytest-benchmark: one file with a test per side.

    Its table shows minimum and median. Each of them gets a verdict.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        order = random.sample([("baseline", sides.baseline), ("candidate", sides.candidate)], 2)
        tests = "".join(_BENCHMARK_TEST.format(side=side, body=_body(sides.setup, code)) for side, code in order)
        (folder / "test_sides.py").write_text(tests, encoding="utf-8")
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        options = [f"--benchmark-max-time={BUDGET_S / 2}", "--benchmark-json=told.json", "--benchmark-only"]
        _run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_sides.py"], folder)
        told = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    stats = {test["name"].removeprefix("test_"): test["stats"] for test in told["benchmarks"]}
    timing_s = sum(side["total"] * side["iterations"] for side in stats.values())
    slowdowns = {figure: stats["candidate"][figure] / stats["baseline"][figure] for figure in ("min", "median")}
    return [Said(figure, slowdown, rule_of_thumb(slowdown), timing_s) for figure, slowdown in slowdowns.items()]


def pyperf_timeit(sides: Sides) -> list[Said]:
    """Judge with `pyperf timeit` and `pyperf compare_to`.

    It uses fewer processes than its usual 20, to keep the limit. The number of loops is given, because pyperf's own
    calibration doubles them until a value is long enough, which may double the time. It gets two verdicts. One is from
    the ratio of means that it prints; the other also uses its t-test (its option for the margin is `--min-speed`).
    """
    value_s = BUDGET_S / 2 / PYPERF_PROCESSES / (PYPERF_VALUES + 1)
    command = [sys.executable, "-m", "pyperf"]
    options = ["-q", "-p", str(PYPERF_PROCESSES), "-n", str(PYPERF_VALUES), "-w", "1", "--inherit-environ=PYTHONPATH"]
    with TemporaryDirectory() as name:
        folder = Path(name)
        for side, code in random.sample([("baseline", sides.baseline), ("candidate", sides.candidate)], 2):
            loops = _calls_that_fill(code, sides.setup, value_s)
            asked = ["timeit", *options, "-l", str(loops), "--name=side", "-o", f"{side}.json"]
            _run([*command, *asked, "-s", sides.setup, code], folder)
        margin = ["--min-speed", str(100 * MARGIN)]
        compared = _run([*command, "compare_to", *margin, "baseline.json", "candidate.json"], folder)
        known = {side: pyperf.Benchmark.load(str(folder / f"{side}.json")) for side in ("baseline", "candidate")}
    slowdown = fmean(known["candidate"].get_values()) / fmean(known["baseline"].get_values())
    by_eye = rule_of_thumb(slowdown)
    by_test = Finding.SAME if "not significant" in compared.lower() else by_eye
    timing_s = sum(map(_sampled_s, known.values()))
    return [Said("mean", slowdown, by_eye, timing_s), Said("t-test", slowdown, by_test, timing_s)]


TOOLS: Final[dict[str, Callable[[Sides], list[Said]]]] = {
    "duel": fairclock,
    "timeit, min of 5": timeit_min,
    "torch blocked": partial(torch_autorange, adaptive=False),
    "torch adaptive": partial(torch_autorange, adaptive=True),
    "pytest-benchmark": pytest_benchmark,
    "pyperf": pyperf_timeit,
}
"""The tools by name, in the order of every table."""

STRICT: Final = "duel, 1 %", partial(fairclock, margin=0.01)
"""The name of the duel with its usual margin, as `verdicts.py --duels` uses it, and the duel."""


def _one_after_the_other(sides: Sides, measure: Callable[[str], tuple[float, float]]) -> list[Said]:
    """Measure each side alone. `measure` returns seconds per call, and the seconds spent on samples."""
    statements = {"baseline": sides.baseline, "candidate": sides.candidate}
    known = {side: measure(statements[side]) for side in random.sample(list(statements), 2)}
    slowdown = known["candidate"][0] / known["baseline"][0]
    return [Said("", slowdown, rule_of_thumb(slowdown), known["baseline"][1] + known["candidate"][1])]


def _calls_that_fill(statement: str, setup: str, seconds: float) -> int:
    """Return the number of calls that take about `seconds`, at least 1. It uses the shortest of a few trial calls."""
    timer = timeit.Timer(statement, setup)
    calls = 1
    while (taken_s := min(timer.repeat(_TRIES, calls))) < _CALIBRATED_S:
        calls *= 2
    return max(1, round(calls * seconds / taken_s))


_BENCHMARK_TEST = """\
def prepared_{side}():
{body}
    return run


def test_{side}(benchmark):
    benchmark(prepared_{side}())


"""


def _body(setup: str, statement: str) -> str:
    return indent(f"{setup}\n\ndef run():\n{indent(statement, '    ')}\n", "    ")


def _sampled_s(benchmark: pyperf.Benchmark) -> float:
    """Return the seconds spent on values and on the warm-up values before them."""
    return float(
        sum(
            sum(loops * value_s for loops, value_s in run.warmups) + run.get_total_loops() * sum(run.values)
            for run in benchmark.get_runs()
        )
    )


def _run(command: list[str], folder: Path) -> str:
    # The inner pytest must not inherit the worker variables of an outer pytest.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
