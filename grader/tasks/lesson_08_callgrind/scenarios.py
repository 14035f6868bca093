"""The scenarios of the task `culprit`: two profiles of a program, before and after one of its functions became slower.

The profiles are sums of recorded profiles (module `recorded`), so that no two scenarios show the same numbers. Each
scenario also renames the functions. Only the names of clones are invented, as a compiler makes them: it appends
`.isra.0`, `.constprop.0` or `.part.0` to the name of a cloned function.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.task import Mismatch, SimulatedFunction
from grader.tasks.answers import shown
from grader.tasks.plain import PlainScenario
from grader.tasks.simulated import shuffled
from grader.values import Value

from .recorded import CULPRITS, OWN, Count, added, load

NAMES: Final = (
    *("advance", "append_to", "balance", "blend", "classify", "collect", "compact", "decode", "descend", "digest"),
    *("emit", "expand", "fetch", "fold", "gather", "insert_at", "inspect", "lookup", "match", "merge", "mix", "narrow"),
    *("open_slot", "pack_bits", "pick", "probe", "rank", "rebuild", "refill", "scan", "settle", "shift", "split_off"),
    *("step", "stamp", "tally", "trace_back", "unfold", "update", "visit", "weigh", "widen"),
)
CLONED: Final = (".isra.0", ".constprop.0", ".part.0")


@dataclass(frozen=True)
class Regression(PlainScenario):
    """Two profiles, before and after a change, and the name of the function that became slower (`truth`).

    A row of a profile is (function, calls, own instructions, inclusive instructions).
    """

    title: str
    advice: str
    before: list[list[Value]]
    after: list[list[Value]]
    truth: str
    function: str = "culprit"
    cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of `culprit`: the profiles before and after the change."""
        return ([list(row) for row in self.before], [list(row) for row in self.after])

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` if the answer is not the name of the function that became slower, else None."""
        if answer == self.truth:
            return None
        if isinstance(answer, str) and answer.startswith(f"{self.truth}."):
            return Mismatch(repr(self.truth), shown(answer), "Return the name as it is in `before`.")
        if answer not in [row[0] for row in self.before]:
            return Mismatch(repr(self.truth), shown(answer), "Return the name of a function in `before`.")
        return Mismatch(repr(self.truth), shown(answer), self.advice)


OWN_WORK: Final = "Find the lowest function whose calls cost more than before."
CALLED_MORE: Final = "A function that is only called more often is not the culprit. Look at its callers."
MORE_RUNS: Final = (
    "In this scenario the work was repeated more often after the change. Compare the cost of one call before and after "
    "the change."
)
CLONES: Final = "A name that ends in .isra.0, .constprop.0 or .part.0 is a clone of the function before the dot."


def draw_scenarios(rng: np.random.Generator) -> tuple[Regression, ...]:
    """Return one scenario for each version of the program, in random order.

    In each version, a fixed function became slower, so a fixed order would reveal it. Each ending of a clone's name
    occurs at one of these functions. Otherwise a submission that handles only two endings would often pass.
    """
    endings = shuffled(rng, CLONED)
    plain, often, cloned = "one program, the same runs", "more runs after the change", "some functions were cloned"
    scenarios = (
        _scenario(rng, 1, plain, OWN_WORK),
        _scenario(rng, 6, cloned, CLONES, ending=endings[0]),
        _scenario(rng, 2, f"{plain}; one function is called more often", CALLED_MORE),
        _scenario(rng, 3, f"{plain}; one function is called more often", CALLED_MORE),
        _scenario(rng, 4, often, MORE_RUNS, more=True),
        _scenario(rng, 5, cloned, CLONES, ending=endings[1]),
        _scenario(rng, 7, f"{often}, and {cloned}", CLONES, more=True, ending=endings[2]),
    )
    return shuffled(rng, scenarios)


def _scenario(
    rng: np.random.Generator, version: int, title: str, advice: str, *, more: bool = False, ending: str = ""
) -> Regression:
    times = [int(n) for n in rng.integers(1, 6, size=len(load()[0]))]
    again = int(rng.integers(2, 4)) if more else 1
    before = added(list(zip(load()[0], times, strict=True)))
    after = added([(count, again * n) for count, n in zip(load()[version], times, strict=True)])
    called = dict(zip(OWN, rng.choice(NAMES, len(OWN), replace=False).tolist(), strict=True))
    clones = dict(called)
    if ending:
        clones[CULPRITS[version]] += ending
        others = [name for name in OWN if name != CULPRITS[version]]
        for name in rng.choice(others, 3, replace=False).tolist():
            clones[name] += str(rng.choice(CLONED))
    return Regression(title, advice, _rows(rng, before, called), _rows(rng, after, clones), called[CULPRITS[version]])


def _rows(rng: np.random.Generator, count: Count, called: dict[str, str]) -> list[list[Value]]:
    rows: list[list[Value]] = [[called.get(name, name), *row] for name, row in count.items()]
    return sorted(shuffled(rng, rows), key=lambda row: -int(str(row[2])))
