"""A duel tells which of two pieces of code is faster here, and whether that is real.

Both are run in short blocks back to back in random order, on several fresh pairs, until the ratio of their costs lies
clearly outside or clearly inside a margin (`harness.rounds`, `harness.decide`). The ratio is baseline ÷ candidate:
above 1 the candidate is faster.

By default both run in this process (`harness.pairs`): at once, on any objects at hand. What that cannot see: one
process is one memory layout. A pair is here two freshly compiled timing loops after a fresh setup, and `LAYOUT_SD`
allows for what that changes; a function that lies badly in this process does so until it ends.

With `twins=True` each pair is two freshly started processes that differ in nothing but their code, timed from outside
(`harness.twin_pairs`): a start-up later, an answer that holds beyond one process.
"""

import math
import random
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Final

from harness import clocks
from harness.blocks import COUNTED, Statement
from harness.clocks import Clock
from harness.decide import Rules
from harness.errors import UsageError
from harness.findings import Duel, Finding
from harness.pairs import Ground, Side, loops
from harness.rounds import contest
from harness.twin_pairs import TwinError, twin_pairs

__all__ = ["LAYOUT_SD", "MARGIN", "Duel", "Finding", "TwinError", "duel"]

MARGIN: Final = 0.01
"""Differences below this are called SAME: twice `LAYOUT_SD`, and so far below a slowdown of 3 % that this is told
within the usual budget on a busy machine too (`tests/benchmarks/verdicts.py --reach` counts how often)."""

LAYOUT_SD: Final = 0.005
"""Standard deviation of a pair's log ratio from fresh loops and a fresh setup. Freshly compiled loops of
the same code were 0.2 to 0.5 % apart when the time went into one C call, but about 1 % when it went into
bytecode; where pairs disagree by more than this, their own spread counts (`harness.decide`)."""


def duel(
    candidate: Statement,
    baseline: Statement,
    *,
    setup: str = "pass",
    candidate_setup: str = "pass",
    baseline_setup: str = "pass",
    globals: Mapping[str, object] | None = None,  # noqa: A002 - timeit's word for it
    margin: float = MARGIN,
    budget_s: float = 1.0,
    seed: int | None = None,
    clock: Clock = COUNTED,
    wall: Clock = clocks.wall,
    twins: bool = False,
) -> Duel:
    """Compare two statements, or two functions, until it is clear which is faster or that neither is.

    `setup` runs for each side of each pair, then the side's own; a statement sees their names and those of `globals`.
    `budget_s` is about the most wall time to spend on timing: a call so long that too few rounds fit in ends
    UNDECIDED. `clock` counts: by default CPU time, of this thread with torch set to one thread meanwhile, or of a
    twin's whole process; with `harness.clocks.wall` waiting counts too. `seed` fixes the order of turns; `wall` is
    for tests.

    With `twins` each side of each pair runs in a process of its own, whose imports look where this one's do. Functions
    must then stand at the top of a module or script (which is loaded without being `__main__`), and objects cannot be
    sent: let the setup make them. Starting takes as long as the setups do, those of the first pairs at once.

    Raises `UsageError` for code that is not Python or cannot be sent, whatever the code raises in this process, and
    `TwinError` for what it does in its own.
    """
    if not (0 < margin < math.inf and 0 < budget_s < math.inf):
        raise UsageError(f"A duel needs a positive margin and budget_s, not {margin} and {budget_s}.")
    if twins and globals:
        raise UsageError("Objects of this process cannot be sent to twins: let setup= make them, not globals=.")
    rng = random.Random(seed)
    sides = (
        Side("baseline", baseline, f"{setup}\n{baseline_setup}"),
        Side("candidate", candidate, f"{setup}\n{candidate_setup}"),
    )
    ground: AbstractContextManager[Ground] = (
        twin_pairs(sides, rng, clock, wall, at_once=Rules().min_pairs)
        if twins
        else loops(sides, globals or {}, rng, clock, wall)
    )
    with ground as here:
        outcome = contest(here.open_pair, (1 / (1 + margin), 1 + margin), _rules(budget_s, here.round_s), rng=rng)
    return Duel.of(outcome, margin, twins=twins, caveat=here.caveat)


def _rules(budget_s: float, round_s: float) -> Rules:
    """Return rules that keep to the budget, even when that means too few rounds to tell."""
    usual = Rules()
    fitting = int(budget_s / (usual.min_pairs * round_s))
    return replace(
        usual,
        layout_sd=LAYOUT_SD,
        min_rounds=max(1, min(usual.min_rounds, fitting)),
        slice_s=min(usual.slice_s, budget_s / (2 * usual.min_pairs)),
        cap_s=budget_s,
    )
