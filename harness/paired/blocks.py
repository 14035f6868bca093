"""Time blocks of calls. A block repeats a statement for a fraction of a millisecond, and is timed with two clocks.

The operating system rarely interrupts such a short block, so two successive blocks run under the same conditions.
"""

import gc
import math
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import Any

from harness import statements
from harness.errors import UsageError
from harness.machine import clocks
from harness.machine.clocks import Clock
from harness.machine.devices import one_torch_thread
from harness.paired.rounds import PairFactory, Reading, Round, make_reading
from harness.paired.state import FirstCall, changed_names, contents
from harness.timeable import finished, first_result

BLOCK_S = 0.2e-3
"""Length of a block in seconds. On a shared machine, ratios of blocks of 0.8 ms had an interquartile range of 4 to 8 %,
those of 0.2 ms one of 0.5 to 2.5 %. The code that ran before changes the time of a block of 0.1 ms by 0.4 %."""

_TRIES = 8  # the number of blocks that `calibrate` times for each number of calls, or fewer if the code takes long
_LONG_S = 100 * BLOCK_S  # a block with more CPU time is not long because of interruptions, which may take 20 ms
_LONG_BLOCKS = 3  # if this number of blocks take long, their code is slow without CPU time, as `time.sleep` is

Statement = str | Callable[[], object]  # as for `timeit`, or a function without arguments
TimingLoop = Callable[[int], Reading]  # runs a statement a number of times

DEFAULT_CLOCK: Clock = clocks.wall if sys.platform == "win32" else clocks.thread_cpu
"""The default clock for ratios. Windows updates a thread's CPU clock only 64 times per second."""

# The loop is a generator, so the setup runs only once for all blocks. Its names are local variables, as in `timeit`.
_LOOP = """\
def statement(function, clock, wall, repeat, make_reading, finished):
    SETUP
    yield
    FIRST
    calls = yield
    while True:
        each = repeat(None, calls)
        wall_s = wall()
        cpu_s = clock()
        for _ in each:
            STATEMENT
        cpu_s = clock() - cpu_s
        wall_s = wall() - wall_s
        calls = yield make_reading(cpu_s, wall_s, calls)
"""


def timing_loop(
    statement: Statement,
    *,
    setup: str = "pass",
    globals: Mapping[str, object] | None = None,  # noqa: A002 - the name that timeit uses
    clock: Clock = DEFAULT_CLOCK,
    wall: Clock = clocks.wall,
) -> TimingLoop:
    """Run `setup`, and return a function that runs `statement` a number of times and returns the times.

    The statement can use names that the setup defines, and the names in a copy of `globals`. Raise `UsageError` if the
    statement or the setup is not valid Python. Exceptions of the setup are not caught.
    """
    blocks = _after_setup(statement, setup, globals or {}, clock, wall, first=False)
    next(blocks)
    send: TimingLoop = blocks.send
    return send


def checked_loop(
    statement: Statement, setup: str, names: Mapping[str, object], clock: Clock, wall: Clock
) -> tuple[TimingLoop, FirstCall]:
    """Return a `timing_loop` whose statement has run once after the setup, and what this first call showed.

    Raise `UsageError` also if the first call shows that the statement cannot be timed (`harness.timeable`).
    """
    blocks = _after_setup(statement, setup, names, clock, wall, first=True)
    used = {name: names[name] for name in blocks.gi_code.co_names if name in names}

    def seen() -> dict[str, object]:
        function = {str(getattr(statement, "__name__", "its object")): statement}
        code = used | blocks.gi_frame.f_locals if isinstance(statement, str) else function
        return contents({name: value for name, value in code.items() if not name.startswith(".")})

    before = seen()
    first_result(clock)  # so that this code is in the processor's caches, and does not make the first call slow
    began_s = clock()
    next(blocks)
    return blocks.send, FirstCall(clock() - began_s, changed_names(before, seen()))


def _after_setup(
    statement: Statement, setup: str, names: Mapping[str, object], clock: Clock, wall: Clock, *, first: bool
) -> Any:
    # Return a generator that has run the setup, and that runs a first call at the next step if `first` is true.
    look: Callable[..., object] = finished
    if isinstance(statement, str):
        loop = _LOOP if first else _LOOP.replace("FIRST", "pass")
        start = statements.function(loop, names, setup=setup, statement=statement)
    else:
        look = partial(first_result, statement)
        loop = _LOOP.replace("STATEMENT", "function()").replace("FIRST", "finished()" if first else "pass")
        start = statements.function(loop, names, setup=setup)
    blocks = start(statement, clock, wall, repeat, make_reading, look)
    next(blocks)
    return blocks


def calibrate(loop: TimingLoop) -> Reading:
    """Find how many calls take about `BLOCK_S` seconds, and return the times of a block with this number of calls.

    For each number, the shortest of several blocks is used, because an interrupted block is longer.
    """
    loop(1)
    calls = 1
    while True:
        block = _shortest(loop, calls)
        filling = max(1, round(calls * BLOCK_S / block.wall_s))
        if filling <= 2 * calls:
            filled = block if filling == calls else _shortest(loop, filling)
            if filled.wall_s >= BLOCK_S / 2:
                return filled
        calls *= 2


@contextmanager
def gc_off_one_thread() -> Iterator[None]:
    """Switch off garbage collection, and let torch use only one thread, until the end of the `with` block."""
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        with one_torch_thread():
            yield
    finally:
        (gc.enable if collecting else gc.disable)()


def common_calls(one: int, other: int) -> tuple[int, int]:
    """Return the numbers of calls per block of two codes, from their calibrated numbers.

    Both become equal if they differ by a factor of at most 2. A block's first call takes longer than the others, so
    equal code with two calls per block seemed 2 to 4 % slower than with three.
    """
    if max(one, other) > 2 * min(one, other):
        return one, other
    same = math.ceil(math.sqrt(one * other))
    return same, same


Turn = Callable[[], Reading]


@dataclass(frozen=True, slots=True)
class TimedCode:
    """The baseline or the candidate of a duel."""

    name: str
    statement: Statement
    setup: str


@dataclass(frozen=True, slots=True)
class TurnPair:
    """A baseline and a candidate that are ready to be timed, as `Pair`."""

    number: int
    baseline: Turn
    candidate: Turn

    def play(self, *, baseline_first: bool) -> Round:
        """Time the baseline and the candidate once each."""
        if baseline_first:
            baseline = self.baseline()
            candidate = self.candidate()
        else:
            candidate = self.candidate()
            baseline = self.baseline()
        return Round(self.number, baseline, candidate, baseline_first)


@dataclass(frozen=True, slots=True)
class PairSource:
    """A source of newly started baselines and candidates, whose rounds take `round_s` seconds.

    `first_calls` are those of the baseline and of the candidate.
    """

    open_pair: PairFactory
    round_s: float
    first_calls: tuple[FirstCall, FirstCall]


@contextmanager
def loop_pairs(
    sides: tuple[TimedCode, TimedCode], names: Mapping[str, object], rng: random.Random, clock: Clock, wall: Clock
) -> Iterator[PairSource]:
    """Yield a source of pairs in this process: two newly compiled timing loops after a new setup, which use `names`.

    Raise `UsageError` for code that cannot be timed. Exceptions of the code are not caught.
    """

    def loop(side: TimedCode) -> TimingLoop:
        return timing_loop(side.statement, setup=side.setup, globals=names, clock=clock, wall=wall)

    with gc_off_one_thread():
        blocks, first_calls = list[Reading](), list[FirstCall]()
        for side in sides:
            try:
                started, first = checked_loop(side.statement, side.setup, names, clock, wall)
            except UsageError as error:
                raise UsageError(f"In the {side.name}: {error}") from None
            blocks.append(calibrate(started))
            first_calls.append(first)
        calls = common_calls(*(block.calls for block in blocks))
        round_s = sum(calls[side] * blocks[side].wall_s / blocks[side].calls for side in (0, 1))

        @contextmanager
        def open_pair(number: int) -> Iterator[TurnPair]:
            turns: dict[int, Turn] = {}
            for place in rng.sample((0, 1), 2):
                turns[place] = partial(loop(sides[place]), calls[place])
                turns[place]()  # the first block of a new loop is a warm-up
            yield TurnPair(number, turns[0], turns[1])

        yield PairSource(open_pair, round_s, (first_calls[0], first_calls[1]))


def _shortest(loop: TimingLoop, calls: int) -> Reading:
    blocks: list[Reading] = []
    while len(blocks) < _TRIES and not _is_slow(blocks):
        blocks.append(loop(calls))
    return min(blocks, key=lambda block: block.wall_s)


def _is_slow(blocks: Sequence[Reading]) -> bool:
    # Whether these blocks take long because of their code, and not because of interruptions.
    long = [block for block in blocks if block.wall_s > _LONG_S]
    return len(long) >= _LONG_BLOCKS or any(block.cpu_s > _LONG_S for block in long)
