"""What `culprit` is given: two counts of one program, before and after one of its functions was made worse.

The counts are real (`recorded`). Each world adds up several recorded runs, so that no two worlds show the same numbers,
and calls the program's functions by other names. What misleads is real too, but for the names: a compiler that clones a
function for a caller hangs `.isra.0`, `.constprop.0` or `.part.0` on its name, and that is planted here.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.task import Metered, Mismatch
from grader.tasks.answers import shown
from grader.tasks.plain import PlainWorld
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
class Regression(PlainWorld):
    """Two counts, as lists of rows (function, calls, own instructions, inclusive instructions), and who is to blame."""

    title: str
    advice: str
    before: list[list[Value]]
    after: list[list[Value]]
    truth: str
    function: str = "culprit"
    cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """Both counts."""
        return ([list(row) for row in self.before], [list(row) for row in self.after])

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare with the function that was made worse."""
        if answer == self.truth:
            return None
        if isinstance(answer, str) and answer.startswith(f"{self.truth}."):
            return Mismatch(repr(self.truth), shown(answer), "Give its name as it is in `before`.")
        if answer not in [row[0] for row in self.before]:
            return Mismatch(repr(self.truth), shown(answer), "Give the name of a function in `before`.")
        return Mismatch(repr(self.truth), shown(answer), self.advice)


OWN_WORK: Final = "Whose calls take more than before, and who merely calls it?"
CALLED_MORE: Final = "What you named does the same as before, only more often. Who asks it to?"
MORE_RUNS: Final = "All was run more often here. What does one call cost, before and after?"
CLONES: Final = "A name with .isra, .constprop or .part behind it is the function of that name, cloned by the compiler."


def draw_worlds(rng: np.random.Generator) -> tuple[Regression, ...]:
    """Draw one world for each version of the program, with what misleads given out in turn, in random order.

    The culprit of a version is the same row in every draw, and a fixed order would tell which row to name. In each draw
    it has each of the clones' endings once: a function that knows two of them would often pass.
    """
    endings = shuffled(rng, CLONED)
    plain, often, cloned = "one program, the same runs", "run more often after", "some functions were cloned"
    worlds = (
        _world(rng, 1, plain, OWN_WORK),
        _world(rng, 6, cloned, CLONES, ending=endings[0]),
        _world(rng, 2, f"{plain}; one function is called more often", CALLED_MORE),
        _world(rng, 3, f"{plain}; one function is called more often", CALLED_MORE),
        _world(rng, 4, often, MORE_RUNS, more=True),
        _world(rng, 5, cloned, CLONES, ending=endings[1]),
        _world(rng, 7, f"{often}, and {cloned}", CLONES, more=True, ending=endings[2]),
    )
    return shuffled(rng, worlds)


def _world(
    rng: np.random.Generator, version: int, title: str, advice: str, *, more: bool = False, ending: str = ""
) -> Regression:
    """Draw the counts of one version; with an `ending`, the culprit and three other functions were cloned."""
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
    """Rows by falling own instructions, as Callgrind lists them; equals in any order."""
    rows: list[list[Value]] = [[called.get(name, name), *row] for name, row in count.items()]
    return sorted(shuffled(rng, rows), key=lambda row: -int(str(row[2])))
