"""Task (a) of lesson 08: find the function that became slower, from two profiles of a C program.

Only the answer counts. Each scenario draws a program: which function calls which, how often, and the instructions of
one call. The profile before the change is counted from it. Then one function gets worse, and the profile is counted
again. A compiler appends `.isra.0`, `.constprop.0` or `.part.0` to the name of a cloned function.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task
from grader.tasks.plain import PlainScenario, shown
from grader.tasks.simulated import shuffled
from grader.values import Value

MAIN: Final = "main"
LIBRARY: Final = (
    *("__memset_avx2_unaligned_erms", "__run_exit_handlers", "_dl_fixup", "_dl_lookup_symbol_x", "_dl_map_object"),
    *("_dl_relocate_object", "_dl_start", "_int_malloc", "check_match"),
)
"""Functions of C's library and of the loader, which the change does not touch."""

PRINTING: Final = "__vfprintf_internal"
ROWS_BEFORE, ROWS_AFTER = 3, 40
"""The numbers of rows that a program prints before and after the change.

More rows make small functions take more instructions, without a fault.
"""

CALLERS, HELPERS = 9, 6
"""The number of functions that each have one caller, without main, and of functions that two of these call."""

LEAST, MOST = 200_000, 1_000_000
"""The own instructions of a function in a program are between these numbers."""

Count = dict[str, tuple[int, int, int]]
"""A profile. For each function: its calls, its own instructions, and its inclusive instructions."""


@dataclass
class CountedProgram:
    """A program. `caller`, `calls` and `own` belong to functions with one caller, each after its caller.

    `helped` are the numbers of calls by pairs (function, helper). `per_call` are the instructions of a helper's call.
    """

    caller: dict[str, str]
    calls: dict[str, int]
    own: dict[str, int]
    helped: Counter[tuple[str, str]]
    per_call: dict[str, int]

    def count(self) -> Count:
        """Return the program's profile."""
        inclusive = dict(self.own)
        for (name, helper), calls in self.helped.items():
            inclusive[name] += calls * self.per_call[helper]
        for name in reversed(self.caller):
            inclusive[self.caller[name]] += inclusive[name]
        found = {name: (self.calls[name], self.own[name], inclusive[name]) for name in self.own}
        for helper, per_call in self.per_call.items():
            calls = sum(number for (_, called), number in self.helped.items() if called == helper)
            found[helper] = (calls, calls * per_call, calls * per_call)
        return found

    def prints(self, printer: str, rows: int) -> None:
        """Change the number of rows that the function `printer` prints."""
        self.own[printer], self.helped[printer, PRINTING] = 14 * rows, rows


def random_program(rng: np.random.Generator, names: list[str]) -> CountedProgram:
    """Return a program of `CALLERS` + `HELPERS` functions with these names. The last of the callers prints rows."""
    callers, helpers = names[:CALLERS], names[CALLERS:]
    program = CountedProgram({}, {MAIN: 1}, {MAIN: int(rng.integers(50, 5000))}, Counter(), {})
    for place, name in enumerate(callers):
        caller = program.caller[name] = MAIN if place in {0, CALLERS - 1} else str(rng.choice(callers[:place][-4:]))
        program.calls[name] = program.calls[caller] * int(rng.integers(1, 5))
        program.own[name] = int(rng.integers(LEAST, MOST) // program.calls[name]) * program.calls[name]
    program.calls[callers[-1]] = 1
    for helper in helpers:  # each of two callers makes 40 to 60 % of the calls
        calls = int(rng.integers(1000, 20_000))
        for caller, share in zip(
            rng.choice(callers[:-1], 2, replace=False).tolist(), rng.uniform(4, 6, 2), strict=True
        ):
            program.helped[caller, helper] = int(calls * share)
        program.per_call[helper] = int(rng.integers(LEAST, MOST) // (10 * calls)) + 1
    program.per_call[PRINTING] = int(rng.integers(300, 500))
    program.prints(callers[-1], ROWS_BEFORE)
    return program


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
    """Return one scenario for each special case, in random order.

    Each ending of a clone's name occurs at one culprit. Otherwise a submission that handles only two endings would
    often pass.
    """
    endings = shuffled(rng, CLONED)
    plain, often, cloned = "one program, the same runs", "more runs after the change", "some functions were cloned"
    scenarios = (
        _scenario(rng, "itself", plain, OWN_WORK),
        _scenario(rng, "helper", cloned, CLONES, ending=endings[0]),
        _scenario(rng, "calls", f"{plain}; one function is called more often", CALLED_MORE),
        _scenario(rng, "calls", f"{plain}; one function is called more often", CALLED_MORE),
        _scenario(rng, "calls", often, MORE_RUNS, more=True),
        _scenario(rng, "itself", cloned, CLONES, ending=endings[1]),
        _scenario(rng, "helper", f"{often}, and {cloned}", CLONES, more=True, ending=endings[2]),
    )
    return shuffled(rng, scenarios)


def _scenario(
    rng: np.random.Generator, change: str, title: str, advice: str, *, more: bool = False, ending: str = ""
) -> Regression:
    names = [str(name) for name in rng.choice(NAMES, CALLERS + HELPERS, replace=False)]
    program = random_program(rng, names)
    before = program.count()
    program.prints(names[CALLERS - 1], ROWS_AFTER)
    culprit = _made_worse(rng, program, change)
    again = int(rng.integers(2, 4)) if more else 1
    after = {name: (again * calls, again * own, again * all_) for name, (calls, own, all_) in program.count().items()}
    clones = {}
    if ending:
        others = rng.choice([name for name in names if name != culprit], 3, replace=False).tolist()
        clones = {culprit: culprit + ending, **{name: name + str(rng.choice(CLONED)) for name in others}}
    library = {
        name: (calls, own, own + below)
        for name, calls, own, below in zip(LIBRARY, *rng.integers(1, 40_000, (3, len(LIBRARY))).tolist(), strict=True)
    }
    return Regression(title, advice, _rows(rng, before | library, {}), _rows(rng, after | library, clones), culprit)


def _made_worse(rng: np.random.Generator, program: CountedProgram, change: str) -> str:
    """Make one function worse, and return its name.

    It takes more instructions itself, or (`change` is "calls") mostly calls a helper more often. With "helper", it has
    several callers.
    """
    helper = str(rng.choice([name for name in program.per_call if name != PRINTING]))
    if change == "helper":
        program.per_call[helper] *= int(rng.integers(2, 6))
        return helper
    if change == "calls":
        culprit = str(rng.choice([name for name, called in program.helped if called == helper]))
        times = 1 + 4 * program.own[culprit] // (program.helped[culprit, helper] * program.per_call[helper])
        program.helped[culprit, helper] *= 2 + times
        program.own[culprit] += program.own[culprit] // 2
        return culprit
    culprit = str(rng.choice(list(program.caller)[:-1]))
    program.own[culprit] *= int(rng.integers(2, 6))
    return culprit


def _rows(rng: np.random.Generator, count: Count, clones: dict[str, str]) -> list[list[Value]]:
    rows: list[list[Value]] = [[clones.get(name, name), *row] for name, row in count.items()]
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
