"""Does `harness.decide` keep its promise? The real contest on planted data, ten thousand verdicts a setting.

    python tests/benchmarks/decisions.py --verdicts 10000 --jobs 2

No code is timed: rounds are drawn from machines of `planted.py`, and seconds are fake. The promise is that at most
`error_rate` of contests end with a false verdict, or with an interval that misses the truth. A rate stands beside its
upper bound (one-sided, 95 %, Clopper and Pearson 1934). Machines that break an assumption on purpose have no promise;
their rates tell what that costs. Exactly at a tier nothing can be told: UNDECIDED is right there, and so is the tier.
An interval that misses the tier ends the contest there, so that row counts the misses at any look.

Exit code 1 when a rate is above the promised one where there is a promise.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from statistics import median

from planted import Machine, Played, machines, play
from rich.console import Console
from rich.progress import track

from harness import duel, units
from harness.decide import Rules
from harness.noise import p95
from harness.tables import Column, Table

RULES = Rules(layout_sd=duel.LAYOUT_SD, cap_s=1.0)
"""A duel's rules, with its usual budget."""

ROUND_S = 5e-3
"""Fake length of a round: some 200 fit in the cap. A duel plays about 1600 of 0.6 ms in that time."""

CONFIDENCE = 0.95
"""Of the upper bounds of rates."""

_MARGINS = (1 / (1 + duel.MARGIN), 1 + duel.MARGIN)
_TIERS = (2.0, 4.0)

TRUTHS: dict[str, tuple[float, Sequence[float]]] = {
    "the same": (1.0, _MARGINS),
    "3 % slower": (1 / 1.03, _MARGINS),
    "5 % above a tier": (1.05 * _TIERS[0], _TIERS),
    "5 % below a tier": (_TIERS[0] / 1.05, _TIERS),
    "exactly at a tier": (_TIERS[0], _TIERS),
    "2× from each tier": (_TIERS[0] / 2, _TIERS),
}
"""True ratio, and the thresholds that it is judged by."""


MACHINES = machines(RULES.layout_sd)


@dataclass(frozen=True, slots=True)
class Rates:
    """What came of the contests on one machine with one truth: how many were false, and what they cost."""

    name: str
    promised: bool
    truth: str
    contests: int
    false: int
    missed: int
    undecided: float
    rounds: float
    timing_s: float
    timing_p95_s: float

    @property
    def kept(self) -> bool:
        """Whether no rate is above the promised one."""
        return max(self.false, self.missed) <= RULES.error_rate * self.contests


def measure(machine: Machine, truth: str, contests: int, round_s: float = ROUND_S, seed: int = 1) -> Rates:
    """Play that many contests and count."""
    ratio, thresholds = TRUTHS[truth]
    played: list[Played] = list(play(machine, ratio, thresholds, RULES, contests, round_s=round_s, seed=seed))
    timing_s = [one.timing_s for one in played]
    return Rates(
        name=machine.name,
        promised=machine.promised,
        truth=truth,
        contests=contests,
        false=sum(one.false for one in played),
        missed=sum(one.missed for one in played),
        undecided=sum(one.undecided for one in played) / contests,
        rounds=median(one.rounds for one in played),
        timing_s=median(timing_s),
        timing_p95_s=p95(timing_s),
    )


def upper_bound(hits: int, tries: int) -> float:
    """Return the highest probability of a hit that so few `hits` do not refute."""
    low, high = hits / tries, 1.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(hits, tries, middle) > 1 - CONFIDENCE else (low, middle)
    return high


def _at_most(hits: int, tries: int, p: float) -> float:
    """Return the probability of no more than `hits` in `tries`, each a hit with probability `p`."""
    if hits == tries or p == 0:
        return 1.0
    logs = (
        math.lgamma(tries + 1) - math.lgamma(k + 1) - math.lgamma(tries - k + 1)
        + k * math.log(p) + (tries - k) * math.log1p(-p)
        for k in range(hits + 1)
    )  # fmt: skip
    return math.fsum(map(math.exp, logs))


def table(results: Sequence[Rates]) -> Table:
    """Return what came of all truths on one machine."""
    first = results[0]
    promise = f"promised at most {units.percent(RULES.error_rate)}" if first.promised else "beyond the promise"
    return Table(
        title=f"{first.name}: {promise}",
        columns=(
            Column("truth"),
            Column("false verdicts"),
            Column("interval misses"),
            Column("undecided", units.percent),
            Column("rounds", units.count),
            Column("timing", units.seconds),
            Column("95 % within", units.seconds),
        ),
        rows=tuple(
            (
                one.truth,
                _rate(one.false, one.contests),
                _rate(one.missed, one.contests),
                one.undecided,
                one.rounds,
                one.timing_s,
                one.timing_p95_s,
            )
            for one in results
        ),
    )


def _rate(hits: int, tries: int) -> str:
    return f"{units.percent(hits / tries)} (≤ {units.percent(upper_bound(hits, tries))})"


def main() -> int:
    """Play everything, a table a machine as they come."""
    parser = argparse.ArgumentParser(description="False verdicts of the decision on planted data.")
    parser.add_argument("--verdicts", type=int, default=10_000, help="contests for each machine and truth")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--round-ms", type=float, default=1e3 * ROUND_S, help="fake length of a round")
    parser.add_argument("--only", default="", help="machines whose name has this in it")
    options = parser.parse_args()
    chosen = [number for number, machine in enumerate(MACHINES) if options.only in machine.name]
    tasks = [(number, truth, options.verdicts, options.round_ms / 1e3) for number in chosen for truth in TRUTHS]
    broken, console = False, Console(width=None if sys.stdout.isatty() else 120)
    with ProcessPoolExecutor(options.jobs) as pool:
        done: list[Rates] = []
        for one in track(pool.map(_measure, tasks), total=len(tasks), console=Console(stderr=True)):
            done.append(one)
            if len(done) == len(TRUTHS):
                console.print(table(done))
                broken |= not all(each.kept for each in done if each.promised)
                done = []
    print(f"A margin of {units.percent(duel.MARGIN)}, tiers at {_TIERS}; {options.verdicts} contests a row.")
    print("A rate is above the promised one." if broken else "Every promised rate is kept.")
    return 1 if broken else 0


def _measure(task: tuple[int, str, int, float]) -> Rates:
    number, truth, contests, round_s = task
    return measure(MACHINES[number], truth, contests, round_s)


if __name__ == "__main__":
    sys.exit(main())
