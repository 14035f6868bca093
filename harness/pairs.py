"""Pairs of two sides that take turns, and pairs of timing loops within this process.

A ground is where a duel is fought: it opens fresh pairs as `harness.rounds.contest` asks for them. Which side is set up
first is drawn for every pair, since the first may get the better memory.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from harness.blocks import Statement, TimingLoop, calibrate, steady, timing_loop
from harness.clocks import Clock
from harness.rounds import PairFactory, Reading, Round

Turn = Callable[[], Reading]
"""Runs one block of one side."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two pieces of code, and what messages call it."""

    name: str
    statement: Statement
    setup: str


@dataclass(frozen=True, slots=True)
class Turns:
    """A pair: the turn of each side."""

    number: int
    baseline: Turn
    candidate: Turn

    def play(self, *, baseline_first: bool) -> Round:
        """Play one round, in the order asked for."""
        if baseline_first:
            baseline = self.baseline()
            candidate = self.candidate()
        else:
            candidate = self.candidate()
            baseline = self.baseline()
        return Round(self.number, baseline, candidate, baseline_first)


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a duel is fought: what opens its pairs, how long a round takes there, and what the machine lacks."""

    open_pair: PairFactory
    round_s: float
    caveat: str = ""


@contextmanager
def loops(
    sides: tuple[Side, Side], names: Mapping[str, object], rng: random.Random, clock: Clock, wall: Clock
) -> Iterator[Ground]:
    """Fight within this process: a pair is two freshly compiled timing loops after a fresh setup.

    `sides` are the baseline and the candidate; their code sees `names`. Raises `UsageError` for code that is not
    Python, and whatever the code raises.
    """

    def loop(side: Side) -> TimingLoop:
        return timing_loop(side.statement, setup=side.setup, globals=names, clock=clock, wall=wall)

    with steady():
        blocks = [calibrate(loop(side)) for side in sides]

        @contextmanager
        def open_pair(number: int) -> Iterator[Turns]:
            turns: dict[int, Turn] = {}
            for side in rng.sample((0, 1), 2):
                turns[side] = partial(loop(sides[side]), blocks[side].calls)
                turns[side]()  # not kept: a fresh loop's first block warms it up
            yield Turns(number, turns[0], turns[1])

        yield Ground(open_pair, round_s=sum(block.wall_s for block in blocks))
