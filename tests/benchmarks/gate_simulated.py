"""Simulate 10,000 runs of `pytest --duel` with ten benchmarks each, and count the red ones.

    python tests/benchmarks/gate_simulated.py --recorded runs.jsonl      # resample the runs of `gate_real.py`
    python tests/benchmarks/gate_simulated.py                            # planted noise; a few minutes

Only the times are simulated: the gate's own functions decide after each number of pairs, measure again what is slower,
and judge the control. In recorded runs of unchanged code, the pairs of processes are drawn with replacement: from all
recorded runs of a benchmark, or from one of its runs, which keeps what all processes of a run have in common. The
second way is pessimistic, because the few pairs of one run are taken for all that there could be.

With planted noise, each process has an error of its own, and all ten benchmarks have the same true change. The exit
code is 1 if more than 1 in 1,000 runs are red although no change is larger than allowed.
"""

import argparse
import math
import random
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import json_lines
from decisions import upper_bound
from rich.console import Console

from harness.gate.measuring import Report, judge, outcome_of
from harness.gate.outcomes import BenchmarkOutcome, GateRound, GateVerdict
from harness.gate.pairing import TimedBenchmark
from harness.gate.settings import ALLOWED, GateBenchmark
from harness.gate.verdicts import PAIRS, RUN_ERROR, decide, measurement_error
from harness.rendering import units
from harness.rendering.tables import Heads, Table

NUMBER = 10
TRUTHS = (0.0, ALLOWED, 0.02, 0.03, 0.05)

Draw = Callable[[random.Random], float]
"""A function that draws the ratio of the cost of BASE to the cost here of one pair of processes."""

NOISE: dict[str, Draw] = {
    "normal, 1 %": lambda rng: rng.gauss(0, 0.01),
    "heavy tails (Student's t, 2 d.f.)": lambda rng: 0.01 * rng.gauss() / math.sqrt(rng.expovariate(1.0)),
    "half of the processes 10 % slower": lambda rng: rng.gauss(0, 0.003) + 0.1 * (rng.random() < 0.5),
    "5 % of the processes 15 % slower": lambda rng: rng.gauss(0, 0.003) + 0.15 * (rng.random() < 0.05),
}
"""The error of one process, as a log ratio."""


@dataclass(slots=True)
class Counts:
    """What happened in simulated runs. `first` counts benchmarks that were slower in their first measurement."""

    runs: int = 0
    red: int = 0
    void: int = 0
    first: int = 0
    slower: int = 0
    undecided: int = 0


def simulate(draws: Callable[[random.Random], Sequence[Draw]], control: Draw, runs: int, seed: int) -> Counts:
    """Simulate runs. `draws` chooses the pairs of a run's benchmarks, and `control` those of BASE with itself."""
    rng, counts = random.Random(seed), Counts(runs)
    for _ in range(runs):
        chosen = draws(rng)
        error, benchmarks = measurement_error(len(chosen)), [GateBenchmark(str(at)) for at in range(len(chosen))]

        def against_base(
            some: Sequence[GateBenchmark], _: Report, chosen: Sequence[Draw] = chosen, error: float = error
        ) -> dict[str, BenchmarkOutcome]:
            return {one.name: measured(one, chosen[int(one.name)], error, rng) for one in some}

        def base_itself(some: Sequence[GateBenchmark], _: Report, error: float = error) -> dict[str, BenchmarkOutcome]:
            return {one.name: measured(one, control, error, rng, most=PAIRS[0]) for one in some}

        outcomes, controls = judge(benchmarks, against_base, base_itself, lambda _: None)
        void, verdicts = any(one.failed for one in controls), [one.verdict for one in outcomes]
        counts.void += void
        counts.red += not void and GateVerdict.SLOWER in verdicts
        counts.first += sum(one.measured_again for one in outcomes)
        counts.slower += verdicts.count(GateVerdict.SLOWER)
        counts.undecided += verdicts.count(GateVerdict.UNDECIDED)
    return counts


def measured(
    benchmark: GateBenchmark, draw: Draw, error: float, rng: random.Random, most: int = PAIRS[-1]
) -> BenchmarkOutcome:
    """Return the outcome of one simulated measurement with at most `most` pairs of processes."""
    rounds: list[GateRound] = []

    def ratios(first: int, end: int) -> list[list[float]]:
        drawn = [draw(rng) for _ in range(first, end)]
        rounds.extend(GateRound(number, ratio, 1.0, ratio, 1.0) for number, ratio in enumerate(drawn, first))
        return [[ratio] for ratio in drawn]

    estimate, index = decide(ratios, error, benchmark.allowed, lambda _: most)
    return outcome_of(benchmark.name, TimedBenchmark(tuple(rounds), estimate, index, ""))


def noisy(noise: Draw, truth: float, rng: random.Random) -> float:
    """Return the ratio of two processes with errors of their own."""
    return math.exp(noise(rng) - noise(rng)) / (1 + truth)


def planted(name: str, truth: float, runs: int) -> Counts:
    draw = partial(noisy, NOISE[name], truth)
    return simulate(lambda _: [draw] * NUMBER, partial(noisy, NOISE[name], 0.0), runs, seed=1)


def recorded(file: Path, load: str, pairs_of: str, runs: int) -> Counts:
    """Simulate runs from the recorded pairs of unchanged code under a load. `pairs_of` is "one run" or "all runs"."""
    known: dict[str, list[list[float]]] = {}
    for record in json_lines.read(file):
        if (record["load"], record["slower"]) == (load, 0.0):
            for one in record["outcomes"]:
                known.setdefault(one["name"], []).append(one["ratios"])
    together = {name: [ratio for ratios in some for ratio in ratios] for name, some in known.items()}

    def draws(rng: random.Random) -> list[Draw]:
        pools = [rng.choice(some) for some in known.values()] if pairs_of == "one run" else together.values()
        return [partial(_choice, pool) for pool in pools]

    return simulate(draws, partial(_choice, min(together.values(), key=len)), runs, seed=1)


def _choice(pool: Sequence[float], rng: random.Random) -> float:
    return rng.choice(pool)


def row(counts: Counts) -> tuple[float, ...]:
    benchmarks = counts.runs * NUMBER
    first = counts.first / benchmarks, upper_bound(counts.first, benchmarks)
    red = counts.red, upper_bound(counts.red, counts.runs)
    return (*first, *red, counts.void, counts.slower / benchmarks, counts.undecided / benchmarks)


HEADS: Heads = {
    "slower at first": units.percent, "at most (95 %)": units.percent, "red runs": units.count,
    "at most": units.percent, "void": units.count, "slower": units.percent, "undecided": units.percent,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recorded", type=Path, help="a file of gate_real.py")
    parser.add_argument("--runs", type=int, default=10_000)
    options, console = parser.parse_args(), Console(width=None if sys.stdout.isatty() else 150)
    job: Callable[[str, Any, int], Counts] = planted
    keys: list[tuple[str, Any]] = list(product(NOISE, TRUTHS))
    title, heads = "Planted noise", {"noise": None, "true change": units.percent, **HEADS}
    if options.recorded:
        job, title = partial(recorded, options.recorded), "Resampled runs of unchanged code"
        loads = sorted({one["load"] for one in json_lines.read(options.recorded) if not one["slower"]})
        keys, heads = list(product(loads, ("all runs", "one run"))), {"load": None, "pairs of": None, **HEADS}
    with ProcessPoolExecutor(2) as pool:
        waiting = [(key, pool.submit(job, *key, options.runs)) for key in keys]
        found = {key: one.result() for key, one in waiting}
    console.print(Table.of(title, heads, [(*key, *row(counts)) for key, counts in found.items()]))
    promised = [counts for (_, kind), counts in found.items() if kind in {"all runs", 0.0, ALLOWED}]
    return any(counts.red > RUN_ERROR * counts.runs for counts in promised)


if __name__ == "__main__":
    sys.exit(main())
