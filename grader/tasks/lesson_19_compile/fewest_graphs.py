"""Task (b) of lesson 19: order the statements of a function so that torch needs few graphs.

The baseline keeps the given order. One Python statement at a time, with all possible torch statements between them,
gains 2.6. All possible statements of one kind, and then of the other kind, gain 7 to 8.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task, Tier
from grader.tasks.plain import PlainScenario, is_whole, shown
from grader.tasks.simulated import shuffled
from grader.values import Value

TORCH: Final = "torch"
PYTHON: Final = "python"

NEVER: Final = 1e12
"""The number of graphs of a scenario before an order has been accepted."""

LOGGED: Final = 0.7
"""The probability that a Python statement follows a torch statement and no other statement uses its result."""

Statement = tuple[str, tuple[int, ...]]
"""A statement: its kind, `TORCH` or `PYTHON`, and the earlier statements whose results it uses."""

WAITING: Final[tuple[Statement, ...]] = (
    (TORCH, ()),
    (PYTHON, (0,)),
    (TORCH, (1,)),
    (PYTHON, (2,)),
    (TORCH, (0,)),
    (PYTHON, (4,)),
)
"""Statements whose last log could be written early, but only after an earlier log that must wait."""


@dataclass
class Function(PlainScenario):
    """The statements of a function. The cost is the number of graphs in the chosen order."""

    title: str
    statements: tuple[Statement, ...]
    function = "fewest_graphs"
    cost: float = field(default=NEVER)

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The argument of `fewest_graphs`: the statements as rows."""
        return ([[kind, list(uses)] for kind, uses in self.statements],)

    @property
    def plain_cost(self) -> float:
        """The number of graphs in the given order, which the baseline keeps."""
        return float(self._graphs(range(len(self.statements))))

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` for the first broken rule. If there is none, set the cost and return None."""
        last = len(self.statements) - 1
        everything = f"each number from 0 to {last} once"
        if isinstance(answer, str | Mapping) or not isinstance(answer, Sequence):
            return Mismatch(everything, shown(answer), "Return the list of the numbers of the statements.")
        order = [int(each) for each in answer if is_whole(each)]
        if len(order) != len(answer) or sorted(order) != list(range(last + 1)):
            return Mismatch(everything, shown(answer), "The function must run each statement once.")
        done: set[int] = set()
        for number in order:
            if missing := sorted(set(self.statements[number][1]) - done):
                why = f"Statement {number} uses the result of statement {missing[0]}."
                return Mismatch(f"{missing[0]} before {number}", shown(answer), why)
            done.add(number)
        python = [number for number in order if self.statements[number][0] == PYTHON]
        for one, other in pairwise(python):
            if one > other:
                why = "Python statements keep their order, because a user can see what they print."
                return Mismatch(f"{other} before {one}", shown(answer), why)
        self.cost = float(self._graphs(order))
        return None

    def _graphs(self, order: Sequence[int]) -> int:
        """Return the number of graphs, which are the longest pieces of the order that contain only torch statements."""
        kinds = [PYTHON, *(self.statements[number][0] for number in order)]
        return sum(one == PYTHON and other == TORCH for one, other in pairwise(kinds))


def draw_scenarios(rng: np.random.Generator) -> tuple[Function, ...]:
    """Return small functions, and functions with several necessary breaks, in random order."""
    return shuffled(
        rng,
        (
            Function("one statement", ((TORCH, ()),)),
            Function("a chain", ((TORCH, ()), (PYTHON, (0,)), (TORCH, (1,)), (PYTHON, (2,)), (TORCH, (0, 3)))),
            Function("a log that waits for another log", WAITING),
            *(
                Function(f"{branches} branches, {levels} levels", _drawn(rng, levels, branches, reads=False))
                for levels, branches in ((2, 6), (2, 7), (3, 5), (3, 6), (3, 6), (4, 5))
            ),
            *(
                Function(
                    f"{branches} branches, {levels} levels, reads a setting", _drawn(rng, levels, branches, reads=True)
                )
                for levels, branches in ((2, 7), (3, 5), (3, 6), (4, 5))
            ),
        ),
    )


def _drawn(rng: np.random.Generator, levels: int, branches: int, *, reads: bool) -> tuple[Statement, ...]:
    """Return random statements.

    Each level has several branches of torch statements. Between two levels, Python computes a value for each branch.
    With `reads`, Python reads a setting after the first torch statement, and the branches use this setting.
    """
    statements: list[Statement] = []

    def add(kind: str, *uses: int) -> int:
        statements.append((kind, uses))
        return len(statements) - 1

    first = add(TORCH)
    starts: list[tuple[int, ...]] = [(first, add(PYTHON)) if reads else (first,)] * branches
    for level in range(levels):
        ends = []
        for uses in starts:
            at = add(TORCH, *uses)
            for _ in range(1 + int(rng.integers(2))):
                if rng.random() < LOGGED:
                    add(PYTHON, at)
                at = add(TORCH, at)
            if rng.random() < LOGGED:
                add(PYTHON, at)
            ends.append(at)
        if level < levels - 1:
            starts = []
            for at in ends:
                value = add(PYTHON, at)
                starts.append((at, value))
                add(TORCH, at, value)
    return tuple(statements)


FEWEST_GRAPHS = Task(
    summary="order the statements of a function, so that torch needs few graphs",
    cost=CALLS,
    tiers=(Tier(2.0, 0.7), Tier(4.2, 1.0)),
    hints=(
        "Which Python statements does no torch statement need? Can they wait?",
        (
            "Run every torch statement as soon as all results that it uses exist. A Python statement can wait until no "
            "torch statement is possible."
        ),
        (
            "Repeat two loops until all statements are done. The first loop runs Python statements in their order, as "
            "long as the next one is possible. The second loop runs all torch statements that are possible, and those "
            "that become possible through them. Run several Python statements in a row before the next graph begins."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="functions"),
    read="lesson 19, “Breaks repaired, and breaks forbidden”",
    idea=(
        "A new graph is necessary only if no torch statement is possible before Python has run. So the solution runs "
        "all possible statements of one kind before it changes to the other kind. No other order has fewer changes, "
        "because each change happens as late as possible."
    ),
    references=(
        "If you add print to torch._dynamo.config.reorderable_logging_functions, torch moves its calls to the end of a "
        "graph."
    ),
    least_gain=1.3,
)
