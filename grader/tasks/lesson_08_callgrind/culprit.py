"""Task (a) of lesson 08: find the function that became slower, from two profiles of a C program.

Only the answer counts. The profiles are sums of recorded profiles (`record.py`), so that no two scenarios show the same
numbers. Each scenario also renames the functions. Only the names of clones are invented, as a compiler makes them: it
appends `.isra.0`, `.constprop.0` or `.part.0` to the name of a cloned function.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task
from grader.tasks import recordings
from grader.tasks.plain import PlainScenario, shown
from grader.tasks.simulated import shuffled
from grader.values import Value

FOLDER: Final = Path(__file__).parent
COUNTS: Final = FOLDER / "counts.json"

CULPRITS: Final[Mapping[int, str]] = {
    1: "hash_word",
    2: "find_word",
    3: "sort_words",
    4: "next_word",
    5: "grow_table",
    6: "check_sum",
    7: "is_letter",
}
"""The function that is slower in each version of the program. Version 0 is the original program."""

OWN: Final = (
    *("next_random", "make_text", "is_letter", "to_lower", "next_word", "hash_word", "same_word", "find_word"),
    *("grow_table", "add_word", "comes_before", "sort_words", "check_sum", "show_rows", "count_words"),
)
"""The names of the program's own functions, which each scenario replaces. `main` stays `main`."""

Count = dict[str, tuple[int, int, int]]
"""A profile. For each function: its calls, its own instructions, and its inclusive instructions."""


def added(counts: list[tuple[Count, int]]) -> Count:
    """Return the sum of several profiles, each multiplied by a factor. The arguments are pairs (profile, factor)."""
    total: dict[str, tuple[int, int, int]] = {}
    for count, times in counts:
        for name, row in count.items():
            before = total.get(name, (0, 0, 0))
            total[name] = (before[0] + times * row[0], before[1] + times * row[1], before[2] + times * row[2])
    return total


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
    function = "culprit"

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
    recorded = recordings.read(COUNTS)
    times = [int(n) for n in rng.integers(1, 6, size=len(recorded["0"]))]
    again = int(rng.integers(2, 4)) if more else 1
    before = added(list(zip(recorded["0"], times, strict=True)))
    after = added([(count, again * n) for count, n in zip(recorded[str(version)], times, strict=True)])
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


CULPRIT = Task(
    summary="find the function that became worse, from two counts",
    cost=CALLS,
    tiers=(),
    hints=(
        (
            "A function executes more instructions if it became worse, and also if it is called more often. How do you "
            "distinguish these two causes?"
        ),
        (
            "Inclusive instructions divided by calls are the inclusive cost of one call. If this cost is the same in "
            "both counts, nothing changed in the function or in functions that it calls. The cost changes in the "
            "culprit, and in all functions that call the culprit, directly or indirectly."
        ),
        (
            'For each function, compute excess = inclusive - calls × (inclusive before / calls before), where "before" '
            "means the numbers of the first count. The culprit and all functions above it have about the same excess. "
            "Take the functions with at least 80 % of the largest excess. Of these, the culprit has the fewest "
            "inclusive instructions. In the first count, look up the whole name of a function, and then the part of "
            "the name before its first dot."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="pairs of counts"),
    read="lesson 08, “The additional instructions of a broadcast”",
    idea=(
        "The inclusive cost of one call does not change in a function that is only called more often. So the "
        "additional cost is large only in the culprit and in the functions that call it. Of the functions with a large "
        "additional cost, the culprit is the lowest in the call tree. Own instructions alone would name the wrong "
        "function if the culprit makes other functions do the work."
    ),
    references=(
        "callgrind_annotate --tree=both shows callers and callees, and KCachegrind draws them. Lesson 09 finds slow "
        "functions in a profile of times."
    ),
)
