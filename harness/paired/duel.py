"""Compare two pieces of code in a duel. The verdict states which one is faster, or that they are equally fast.

Short blocks of baseline and candidate run one directly after the other, in random order, on several new pairs. The duel
ends when the interval of the ratio lies completely outside or completely inside a margin (`harness.paired.rounds`,
`harness.paired.decide`). The ratio is the baseline's cost ÷ the candidate's cost. If the ratio is above 1, the
candidate is faster.

By default, baseline and candidate run in this process (`harness.paired.blocks`). This starts immediately and works with
any object. A pair is then two newly compiled timing loops after a new setup. With `paired_processes=True`, each pair is
two new processes that differ only in their code (`harness.paired.process_pairs`). This takes longer, but the verdict
then does not depend on the memory layout of a single process.
"""

import math
import random
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Final

from harness.errors import UsageError
from harness.machine import clocks
from harness.machine.clocks import Clock
from harness.paired.blocks import BLOCK_S, DEFAULT_CLOCK, PairSource, Statement, TimedCode, loop_pairs
from harness.paired.decide import Rules
from harness.paired.duel_result import Duel, Finding
from harness.paired.process_pairs import PairedProcessError, process_pairs
from harness.paired.rounds import contest

__all__ = ["LAYOUT_SD", "MARGIN", "Duel", "Finding", "PairedProcessError", "duel"]

MARGIN: Final = 0.01
"""Smaller relative differences get the verdict SAME (0.01 is 1 %). The margin is twice `LAYOUT_SD`. With it, a duel of
usual length still detects a slowdown of 3 % on a busy machine (`tests/benchmarks/verdicts.py --reach` counts how
often)."""

LAYOUT_SD: Final = 0.005
"""Standard deviation of the log ratio of two equal pieces of code that newly compiled timing loops and a new setup
cause. It was 0.2 to 0.5 % if one C call took most of the time, and about 1 % if bytecode did. If the pairs of a duel
differ by more, their measured spread is used (`harness.paired.decide`)."""

SLICE_S: Final = 0.03
"""Seconds for which a pair is timed before the next pair continues. If pairs start fast, each slice has a new pair."""

MIN_ROUNDS: Final = 14
"""Smallest number of rounds of a slice, if the time limit allows it. With half as many, noise that lasts for ten rounds
is not recognised, and a pair looks more certain than it is (`tests/benchmarks/decisions.py`)."""


def duel(
    candidate: Statement,
    baseline: Statement,
    *,
    setup: str = "pass",
    candidate_setup: str = "pass",
    baseline_setup: str = "pass",
    globals: Mapping[str, object] | None = None,  # noqa: A002 - the name that timeit uses
    margin: float = MARGIN,
    budget_s: float = 1.0,
    seed: int | None = None,
    clock: Clock = DEFAULT_CLOCK,
    wall: Clock = clocks.wall,
    paired_processes: bool = False,
) -> Duel:
    """Compare two statements or two functions, and return the verdict with all rounds.

    In each pair, baseline and candidate run `setup` and then their own setup. A statement can use the names of its
    setups and of `globals`. `budget_s` limits the wall time of measuring. If this time is too short for enough rounds,
    the verdict is UNDECIDED. `clock` is the clock for the ratio. The default is the CPU clock of this thread, with one
    torch thread, or of each paired process. With `harness.machine.clocks.wall`, waiting counts too. `seed` fixes the
    random order in the rounds. The argument `wall` is for tests.

    With `paired_processes`, each statement of each pair runs in a new process, with the import path of this process. A
    function must then be at the top level of a module or script. A script is loaded with a name other than `__main__`.
    Objects cannot be sent to another process: create them in the setup. The duel starts after the setups of the first
    pairs, which run at the same time.

    Raise `UsageError` for code that is not Python or cannot be sent to another process. Exceptions of the code are not
    caught; in a paired process, they become a `PairedProcessError`.
    """
    if not (0 < margin < math.inf and 0 < budget_s < math.inf):
        raise UsageError(f"A duel needs a positive margin and budget_s, not {margin} and {budget_s}.")
    if paired_processes and globals:
        raise UsageError("Objects cannot be sent to paired processes: create them in setup=, and leave out globals=.")
    rng = random.Random(seed)
    sides = (
        TimedCode("baseline", baseline, f"{setup}\n{baseline_setup}"),
        TimedCode("candidate", candidate, f"{setup}\n{candidate_setup}"),
    )
    source: AbstractContextManager[PairSource] = (
        process_pairs(sides, rng, clock, wall, at_once=Rules().min_pairs)
        if paired_processes
        else loop_pairs(sides, globals or {}, rng, clock, wall)
    )
    with source as pairs:
        thresholds, rules = (1 / (1 + margin), 1 + margin), duel_rules(budget_s, pairs.round_s)
        outcome = contest(pairs.open_pair, thresholds, rules, rng=rng, wall=wall)
    return Duel.of(outcome, margin, paired_processes=paired_processes, caveat=pairs.caveat)


def duel_rules(budget_s: float = 1.0, round_s: float = 2 * BLOCK_S) -> Rules:
    """Return the rules of a duel whose rounds take `round_s` seconds, with a limit of `budget_s` seconds."""
    usual = Rules()
    fitting = int(budget_s / (usual.min_pairs * round_s))
    slice_s = min(SLICE_S, budget_s / (2 * usual.min_pairs))
    return replace(
        usual,
        layout_sd=LAYOUT_SD,
        min_rounds=max(1, min(MIN_ROUNDS, fitting)),
        slice_s=slice_s,
        max_pairs=math.ceil(budget_s / slice_s),
        cap_s=budget_s,
    )
