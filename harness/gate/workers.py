"""The pairs of processes that run the benchmarks: one process of each pair for BASE, and one for this tree.

A pair serves one benchmark after the other. Each pair has a memory layout and a hash seed of its own, by chance, so
that many pairs show what a change of the code does with most layouts. Both processes of a pair share what chance gives,
so that their layouts differ only by what their code does.
"""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package

from harness.gate import layout
from harness.gate.settings import GateCost, GateSide
from harness.gate.worker_process import BenchmarkError, OneCall, WorkerProcess
from harness.machine import clocks
from harness.processes import process_env
from harness.processes.launcher import end_all

_END_S: Final = 2.0
_MOST_PAD: Final = 4096  # bytes: a stack is aligned to 16 bytes, and repeats its effects after a page
_FREE_SHARE: Final = 0.25  # of the memory, which the pairs leave free


Pair = tuple[WorkerProcess, WorkerProcess]
"""The worker of BASE, and the worker of this tree."""


@dataclass(slots=True)
class Workers:
    """All pairs of one measurement, by their number. A pair starts before it is needed, on the cores `cores`.

    It is timed on `core`. `start_s` are the seconds in which all cores start one pair, and `pair_bytes` its memory.
    """

    sides: tuple[GateSide, GateSide]
    rng: random.Random
    core: int | None
    cores: set[int] | None
    cost: GateCost
    all_cores: set[int] | None = None
    pairs: dict[int, Pair] = field(default_factory=dict)
    start_s: float = 0.0
    pair_bytes: float = 1.0

    def start(self, pairs: int) -> None:
        """Start the first `pairs` pairs, except those that run already, and wait until they have collected the tests.

        Nothing is timed meanwhile, so they may use all cores. Fewer pairs are started if memory would become short.
        """
        began_s, free, running = clocks.wall(), _free_memory(), len(self.pairs)
        if not self.pairs:
            self._ready([self._start(0)])
            self.pair_bytes = max(1.0, free - _free_memory())
        room = max(0, int(_free_memory() / self.pair_bytes))
        missing = [number for number in range(pairs) if number not in self.pairs]
        self._ready([self._start(number) for number in missing[:room]])
        if started := len(self.pairs) - running:
            self.start_s = (clocks.wall() - began_s) / started

    def fitting(self, pairs: int, seconds: float, pair_s: float) -> float:
        """Return how many more pairs can be timed in this number of seconds, after `pairs` of them.

        A pair takes `pair_s`, or the time to start it if it does not run yet.
        """
        running = min(max(0, len(self.pairs) - pairs), seconds / pair_s)
        return running + (seconds - running * pair_s) / max(pair_s, self.start_s)

    def _ready(self, started: list[Pair]) -> None:
        for pair in started:
            for worker in pair:
                worker.collect()
            bind(pair, self.cores)

    def _start(self, number: int) -> Pair:
        variables = {
            "PYTHONHASHSEED": str(self.rng.randrange(1, 1 << 32)),
            layout.SEED_VARIABLE: f"{self.rng.getrandbits(32):010}",
            layout.PAD_VARIABLE: "x" * self.rng.randrange(_MOST_PAD),
        }
        started = {
            is_base: WorkerProcess(self.sides[0 if is_base else 1], variables, self.cost, is_base=is_base)
            for is_base in self.rng.sample((True, False), 2)  # the first one may get better places in memory
        }
        self.pairs[number] = started[True], started[False]
        return self.pairs[number]

    def begin(self, number: int, item: str, following: str | None) -> Pair:
        """Let both processes of a pair run `item` up to its timed call. They may have begun before."""
        if number not in self.pairs:
            bind(self._start(number), self.cores)
        for worker in self.rng.sample(self.pairs[number], 2):
            if worker.item != item:
                worker.begin(item, following)
        return self.pairs[number]

    def start_ahead(self, end: int) -> None:
        """Start the next pair whose number is below `end`, unless one is still starting, or memory is short."""
        missing = [number for number in range(end) if number not in self.pairs]
        is_starting = any(worker.is_starting() for pair in self.pairs.values() for worker in pair)
        if missing and not is_starting and _free_memory() > self.pair_bytes:
            bind(self._start(missing[0]), self.cores)

    def stand(self, number: int, *, later: bool = False) -> tuple[OneCall, OneCall]:
        """Wait until both processes of a pair stand at their timed call, and return how long one call takes.

        With `later`, this is another call than the first one. Nothing is timed meanwhile, so all cores prepare this
        pair and the next ones. Raise `BenchmarkError`, of this tree if both processes have one.
        """
        preparing = [pair for each, pair in self.pairs.items() if self.is_preparing(each)]
        for pair in preparing:
            bind(pair, self.all_cores)
        calls, problems = [], []
        for worker in self.pairs[number]:
            try:
                calls.append(worker.later_call() if later else worker.one_call())
            except BenchmarkError as error:
                problems.append(error)
        for pair in preparing:
            bind(pair, self.cores)
        if problems:
            raise problems[-1]
        return calls[0], calls[1]

    def is_preparing(self, number: int) -> bool:
        """Return whether a pair still runs up to a timed call, on other cores than the one for timing."""
        return self.cores != self.all_cores and any(worker.is_preparing() for worker in self.pairs.get(number, ()))

    def finish(self, number: int) -> str:
        """Let the benchmark end in both processes of a pair. Return a sentence on processes that it left, or "".

        Raise the last `BenchmarkError` after both have ended it. If memory is short, the pair ends, too.
        """
        leaked, problems = "", []
        for worker in self.pairs[number]:
            try:
                worker.finish()
            except BenchmarkError as problem:
                if problem.kind == "leaked":
                    leaked = str(problem)
                else:
                    problems.append(problem)
        if problems:
            raise problems[-1]
        if number and _free_memory() < 0:
            end_all([worker.child for worker in self.pairs.pop(number)], _END_S)
        return leaked

    def end_unfinished(self) -> None:
        """End the pairs of which a process has not finished its benchmark, as after an error."""
        unfinished = [number for number, pair in self.pairs.items() if any(worker.item for worker in pair)]
        end_all([worker.child for number in unfinished for worker in self.pairs.pop(number)])

    def end(self) -> None:
        """End all processes. Nothing is timed any more, so they may use all cores."""
        for pair in self.pairs.values():
            bind(pair, self.all_cores)
        all_workers = [worker for pair in self.pairs.values() for worker in pair]
        end_all([worker.child for worker in all_workers if worker.is_starting()])  # they have nothing to tear down
        end_all([worker.child for worker in all_workers], _END_S)


def _free_memory() -> float:
    """Return the bytes of memory that may still be used. It is negative if memory is short."""
    memory = psutil.virtual_memory()
    return float(memory.available - _FREE_SHARE * memory.total)


@contextmanager
def workers(
    sides: tuple[GateSide, GateSide], rng: random.Random, core: int | None, cost: GateCost
) -> Iterator[Workers]:
    """Yield the pairs of processes of one measurement, and end them afterwards. They are timed on the core `core`."""
    own = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    made = Workers(sides, rng, core, (own - {core} or own) if own else None, cost, all_cores=own)
    try:
        yield made
    finally:
        made.end()


def bind(pair: Pair, cores: process_env.Cores) -> None:
    """Bind both processes of a pair to these cores."""
    for worker in pair:
        process_env.pin(worker.child.pid, cores)
