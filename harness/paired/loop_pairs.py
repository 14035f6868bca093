"""Compile timing loops for the baseline and the candidate of a duel, in this process.

A `PairSource` opens new pairs of loops when `harness.paired.rounds.contest` needs them. In each pair, the setups of
baseline and candidate run in random order, because the first setup may get faster memory.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from harness.machine.clocks import Clock
from harness.paired.blocks import Statement, TimingLoop, calibrate, common_calls, gc_off_one_thread, timing_loop
from harness.paired.rounds import PairFactory, Reading, Round

Turn = Callable[[], Reading]
"""A function that runs one block of calls of the baseline or of the candidate, and returns its times."""


@dataclass(frozen=True, slots=True)
class TimedCode:
    """The baseline or the candidate of a duel: the name that messages use, the statement and the setup."""

    name: str
    statement: Statement
    setup: str


@dataclass(frozen=True, slots=True)
class TurnPair:
    """A baseline and a candidate that are ready to be timed. Each function runs one block of calls."""

    number: int
    baseline: Turn
    candidate: Turn

    def play(self, *, baseline_first: bool) -> Round:
        """Time the baseline and the candidate once each, in the order of `baseline_first`, and return the times."""
        if baseline_first:
            baseline = self.baseline()
            candidate = self.candidate()
        else:
            candidate = self.candidate()
            baseline = self.baseline()
        return Round(self.number, baseline, candidate, baseline_first)


@dataclass(frozen=True, slots=True)
class PairSource:
    """A source of newly started baselines and candidates for a duel. The function `open_pair` starts one of each.

    `round_s` is the length of a round in seconds. `caveat` is the reason why times are only estimates on this machine,
    or "".
    """

    open_pair: PairFactory
    round_s: float
    caveat: str = ""


@contextmanager
def loop_pairs(
    sides: tuple[TimedCode, TimedCode], names: Mapping[str, object], rng: random.Random, clock: Clock, wall: Clock
) -> Iterator[PairSource]:
    """Yield a source of pairs in this process. A pair is two newly compiled timing loops after a new setup.

    `sides` are the baseline and the candidate. Their code can use the variables in `names`. Raise `UsageError` for code
    that is not Python. Exceptions of the code are not caught.
    """

    def loop(side: TimedCode) -> TimingLoop:
        return timing_loop(side.statement, setup=side.setup, globals=names, clock=clock, wall=wall)

    with gc_off_one_thread():
        blocks = [calibrate(loop(side)) for side in sides]
        calls = common_calls(*(block.calls for block in blocks))
        round_s = sum(calls[side] * blocks[side].wall_s / blocks[side].calls for side in (0, 1))

        @contextmanager
        def open_pair(number: int) -> Iterator[TurnPair]:
            turns: dict[int, Turn] = {}
            for side in rng.sample((0, 1), 2):
                turns[side] = partial(loop(sides[side]), calls[side])
                turns[side]()  # the first block of a new loop is a warm-up
            yield TurnPair(number, turns[0], turns[1])

        yield PairSource(open_pair, round_s)
