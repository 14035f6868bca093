"""Time the calls of one benchmark with one pair of processes after the other, until the verdict is clear.

Short calls are timed in blocks of 0.4 ms, one side directly after the other. A call of 2 ms or more is its own block,
and both sides then run at the same time on one core, where they take turns of about half a millisecond. So whatever
slows the machine down for a while slows both sides, and their CPU clocks show the work of each.

Meanwhile, the next pairs start and run up to their timed calls on other cores. If this takes longer, the present pair
is timed until the next one is ready. Pairs that only the next look needs start, too, one after the other: if this
benchmark does not need them, the next ones may. When nothing can be timed, pairs start on all cores.

Counts, as of instructions, do not depend on other work. So both sides count at the same time, on any cores.
"""

from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import Final

from harness.gate.outcomes import GateRound
from harness.gate.settings import GateBenchmark, GateCost
from harness.gate.turns import short_turns
from harness.gate.verdicts import PAIRS, decide, most_pairs
from harness.gate.worker_process import OneCall
from harness.gate.workers import Pair, Workers, bind
from harness.machine import clocks
from harness.paired.blocks import common_calls
from harness.paired.decide import Estimate
from harness.processes import process_env

BLOCK_S: Final = 0.4e-3
SLOW_S: Final = 2e-3
"""A call of this length or more is its own block."""

MOST_LIMITS: Final = 3.0
"""A benchmark with slow calls, or one that seems to be slower, may take this many times its limit."""

_MOST_S: Final = 4e-3  # the length of a block of several calls with the untimed code before and after each
_LAYOUT_S: Final = 0.015  # the time in each memory layout of a pair
_FORK_S: Final = 0.1  # a slow call of this length or more runs in a fork, whose start takes 30 ms
_AHEAD: Final = 3  # pairs that run up to their timed call on another core meanwhile
_MORE: Final = 4  # pairs of the next look that start in addition
_WARM_UP_BLOCKS: Final = 2  # after each change of the layout
_OF_LIMIT: Final = 1 / PAIRS[-1]  # the part of the time limit that one pair gets


@dataclass(frozen=True, slots=True)
class StandingPair:
    """A pair of processes that stand at the timed call of a benchmark.

    `at_once` says whether both run together, and `forks` whether each layout is a fork of the processes.
    """

    number: int
    workers: Pair
    calls: tuple[int, int]
    at_once: bool
    cost: GateCost
    forks: bool

    def play(self, *, base_first: bool) -> GateRound:
        """Time a block of calls on both sides, or count its cost, and return the results."""
        both = list(zip(self.workers, self.calls, strict=True))
        order = both if base_first else both[::-1]
        found: list[tuple[float, float]] = []
        for worker, calls in order:
            worker.request(calls, self.cost)
            if not self.at_once:
                found.append(worker.result(calls, self.cost))
        if self.at_once:
            found = [worker.result(calls, self.cost) for worker, calls in order]
        (base, base_wall_s), (here, here_wall_s) = found if base_first else found[::-1]
        return GateRound(self.number, base, here, base_wall_s, here_wall_s)

    def new_layout(self, seed: int) -> None:
        """Change the memory layout of both processes in the same way."""
        base_first = seed % 2 == 0  # the first fork may get better places in memory
        for worker in self.workers if base_first else self.workers[::-1]:
            worker.shuffle(seed, forks=self.forks, populates=self.at_once)
        for _ in range(1 if self.cost.is_counted else 0 if self.at_once else _WARM_UP_BLOCKS):
            self.play(base_first=base_first)


@dataclass(frozen=True, slots=True)
class TimedBenchmark:
    """The rounds of a benchmark, the ratio of the cost of BASE to the cost here, and which of the limits it reaches.

    `index` is 0 if the cost here is higher than allowed, 2 if it is lower, and 1 in between. It is None if the interval
    contains a limit. `leaked` is "", or a sentence on processes that the benchmark left running.
    """

    rounds: tuple[GateRound, ...]
    estimate: Estimate
    index: int | None
    leaked: str


def compare(
    workers: Workers, benchmark: GateBenchmark, following: str | None, error: float, most: int, *, later: bool
) -> TimedBenchmark:
    """Time a benchmark in at most `most` pairs, with an error rate of `error` in each direction.

    `later` says that a later call is much faster than the first one of a process. Raise `BenchmarkError` if the
    benchmark cannot be timed, or if it fails after its timed call.
    """
    began_s, leaked = clocks.wall(), ""
    timed: list[list[GateRound]] = []

    def ratios(first: int, end: int) -> list[list[float]]:
        nonlocal leaked
        for number in range(first, end):
            for ahead in range(number, min(number + 1 + _AHEAD, end)):
                workers.begin(ahead, benchmark.name, following)
            one_call = workers.stand(number, later=later)
            workers.start_ahead(min(end + _MORE, most))
            timed.append(_timed(workers, number, one_call, benchmark))
            leaked = workers.finish(number) or leaked
        return [[workers.cost.ratio(one.base, one.here) for one in rounds] for rounds in timed[first:]]

    def fitting(known: Estimate) -> float:
        pairs, spent_s = known.pairs, clocks.wall() - began_s
        in_limit, in_more = (
            pairs + workers.fitting(pairs, limit_s - spent_s, spent_s / pairs)
            for limit_s in (benchmark.limit_s, MOST_LIMITS * benchmark.limit_s)
        )
        return min(most, most_pairs(known, benchmark.allowed, in_limit, in_more))

    known, index = decide(ratios, error, benchmark.allowed, fitting)
    return TimedBenchmark(tuple(chain.from_iterable(timed)), known, index, leaked)


def _timed(
    workers: Workers, number: int, one_call: tuple[OneCall, OneCall], benchmark: GateBenchmark
) -> list[GateRound]:
    pair, cost = workers.pairs[number], workers.cost
    bind(pair, workers.core)
    if any(one.on_gpu for one in one_call) and not cost.is_counted:
        cost = GateCost.WALL
    slow = max(one.wall_s if cost is GateCost.WALL else one.cpu_s for one in one_call) >= SLOW_S
    base, here = (1 if slow else _calls_in_a_block(one, cost) for one in one_call)
    in_turns = slow and cost is GateCost.CPU
    at_once = cost.is_counted or in_turns
    long_enough = not at_once or min(one.cpu_s for one in one_call) >= _FORK_S
    forks = not cost.is_counted and long_enough and all(one.can_fork for one in one_call)
    standing = StandingPair(number, pair, common_calls(base, here), at_once, cost, forks)
    rounds: list[GateRound] = []
    turns = short_turns(worker.child.pid for worker in pair) if in_turns else nullcontext()
    with process_env.pinned(workers.core), turns:
        pair_s = benchmark.limit_s * _OF_LIMIT
        until_s, layout_s = clocks.wall() + pair_s, pair_s / max(1, round(pair_s / _LAYOUT_S))
        while not rounds or clocks.wall() < until_s or workers.is_preparing(number + 1):
            standing.new_layout(workers.rng.getrandbits(32))
            began_s, before = clocks.wall(), len(rounds)
            while len(rounds) == before or clocks.wall() - began_s < layout_s:
                rounds.append(standing.play(base_first=workers.rng.random() < 0.5))
    bind(pair, workers.cores)
    return rounds


def _calls_in_a_block(one: OneCall, cost: GateCost) -> int:
    if cost is GateCost.MEMORY:
        return 1
    usual = BLOCK_S / (one.wall_s if cost is GateCost.WALL else one.cpu_s)
    return max(1, round(min(usual, _MOST_S / one.whole_s)))
