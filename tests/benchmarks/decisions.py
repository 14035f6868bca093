"""Test the guarantee of `harness.paired.decide` on simulated measurements: ten thousand verdicts for each setting.

    python tests/benchmarks/decisions.py --verdicts 10000 --jobs 2

No code is timed: the times come from the simulated machines of `planted.py`. The guarantee is that at most `error_rate`
of comparisons end with a false verdict, or with an interval that does not contain the true ratio. Each rate is printed
with its upper bound (one-sided, 95 %, Clopper and Pearson 1934). Machines that break an assumption on purpose have no
guarantee; their rates show the effect. If the true ratio is exactly a threshold, both UNDECIDED and the threshold are
right. An interval that misses the threshold then ends the comparison, so that row counts misses of all intervals.

A grade is too good if the threshold of its tier is more than the factor `BENEFIT` above the true ratio. A smaller
excess is intended: it is the benefit of the doubt. A student may hand in fifty copies of the same code, so the last
column has an upper bound of the chance that at least one of fifty copies gets a grade that is too good.

The exit code is 1 if a rate is above the guaranteed one.
"""

import argparse
import math
import sys
from bisect import bisect_right
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from statistics import median

from planted import Played, machines, play
from rich.console import Console
from rich.progress import track

from harness.paired import duel
from harness.paired.decide import BENEFIT
from harness.paired.duel import duel_rules
from harness.paired.noise import p95
from harness.rendering import units
from harness.rendering.tables import Table

RULES = duel_rules()
"""The rules of a duel, with its usual time budget."""

ROUND_S = 5e-3
"""The simulated length of a round: about 200 rounds fit in the cap. A real duel plays about 1600 rounds of 0.6 ms."""

COPIES = 50
CONFIDENCE = 0.95
"""The confidence of the upper bounds of rates."""

_MARGINS = (1 / (1 + duel.MARGIN), 1 + duel.MARGIN)
_TIERS = (2.0, 4.0)

TRUTHS: dict[str, tuple[float, Sequence[float]]] = {
    "the same": (1.0, _MARGINS),
    "3 % slower": (1 / 1.03, _MARGINS),
    "5 % above a tier": (1.05 * _TIERS[0], _TIERS),
    "5 % below a tier": (_TIERS[0] / 1.05, _TIERS),
    "exactly at a tier": (_TIERS[0], _TIERS),
    "2× from each tier": (_TIERS[0] / 2, _TIERS),
    "2 % beyond the benefit": (_TIERS[1] / BENEFIT / 1.02, _TIERS),
}
"""The true ratio, and the tiers with which it is compared."""


MACHINES = machines(RULES.layout_sd)


@dataclass(frozen=True, slots=True)
class Rates:
    """The results of all contests on one simulated machine with one true ratio: shares of false verdicts, and costs."""

    name: str
    promised: bool
    truth: str
    contests: int
    false: int
    missed: int
    too_good: int
    undecided: float
    rounds: float
    timing_s: float
    timing_p95_s: float

    @property
    def kept(self) -> bool:
        """Whether all rates are at most the guaranteed rate."""
        return max(self.false, self.missed) <= RULES.error_rate * self.contests


def measure(task: tuple[int, str, int]) -> Rates:
    """Play contests on a machine with a true ratio, and return the rates of false verdicts."""
    number, truth, contests = task
    machine, (ratio, thresholds) = MACHINES[number], TRUTHS[truth]
    played: list[Played] = list(play(machine, ratio, thresholds, RULES, contests, round_s=ROUND_S, seed=1))
    timing_s = [one.timing_s for one in played]
    return Rates(
        name=machine.name,
        promised=machine.promised,
        truth=truth,
        contests=contests,
        false=sum(one.false for one in played),
        missed=sum(one.missed for one in played),
        too_good=sum(one.given > bisect_right(thresholds, ratio * BENEFIT) for one in played),
        undecided=sum(one.undecided for one in played) / contests,
        rounds=median(one.rounds for one in played),
        timing_s=median(timing_s),
        timing_p95_s=p95(timing_s),
    )


def upper_bound(hits: int, tries: int, confidence: float = CONFIDENCE) -> float:
    """Return the upper confidence bound of a hit's probability, from the number of `hits` in `tries`."""
    low, high = hits / tries, 1.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(hits, tries, middle) > 1 - confidence else (low, middle)
    return high


def at_most(hits: int, tries: int, p: float) -> float:
    """Return the probability of at most `hits` in `tries`, each a hit with probability `p`."""
    if hits == tries or p == 0:
        return 1.0
    logs = (
        math.lgamma(tries + 1) - math.lgamma(k + 1) - math.lgamma(tries - k + 1)
        + k * math.log(p) + (tries - k) * math.log1p(-p)
        for k in range(hits + 1)
    )  # fmt: skip
    return math.fsum(map(math.exp, logs))


def table(results: Sequence[Rates]) -> Table:
    """Return a table of the results on one simulated machine, with a row per true ratio."""
    first = results[0]
    promise = f"promised at most {units.percent(RULES.error_rate)}" if first.promised else "beyond the promise"
    return Table.of(
        title=f"{first.name}: {promise}",
        columns={
            "truth": None,
            "false verdicts": None,
            "interval misses": None,
            "undecided": units.percent,
            "rounds": units.count,
            "timing": units.seconds,
            "95 % within": units.seconds,
            f"too good, one of {COPIES}": units.percent,
        },
        rows=[
            (
                one.truth,
                _rate(one.false, one.contests),
                _rate(one.missed, one.contests),
                one.undecided,
                one.rounds,
                one.timing_s,
                one.timing_p95_s,
                1 - (1 - upper_bound(one.too_good, one.contests)) ** COPIES,
            )
            for one in results
        ],
    )


def _rate(hits: int, tries: int) -> str:
    return f"{units.percent(hits / tries)} (≤ {units.percent(upper_bound(hits, tries))})"


def main() -> int:
    """Play all contests, and print each machine's table when it is complete."""
    parser = argparse.ArgumentParser(description="False verdicts of the decision on planted data.")
    parser.add_argument("--verdicts", type=int, default=10_000, help="contests for each machine and true ratio")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    tasks = [(number, truth, options.verdicts) for number in range(len(MACHINES)) for truth in TRUTHS]
    broken, console = False, Console(width=None if sys.stdout.isatty() else 120)
    with ProcessPoolExecutor(options.jobs) as pool:
        done: list[Rates] = []
        for one in track(pool.map(measure, tasks), total=len(tasks), console=Console(stderr=True)):
            done.append(one)
            if len(done) == len(TRUTHS):
                console.print(table(done))
                broken |= not all(each.kept for each in done if each.promised)
                done = []
    print(f"A margin of {units.percent(duel.MARGIN)}, tiers at {_TIERS}; {options.verdicts} contests per row.")
    print("A rate is above the guaranteed rate." if broken else "Every rate is within its guarantee.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
