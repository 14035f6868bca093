"""The pairs of processes that run the benchmarks: one process of each pair for BASE, and one for this tree.

A pair serves one benchmark after the other. Each pair has a memory layout and a hash seed of its own, by chance, so
that many pairs show what a change of the code does with most layouts. Both processes of a pair share what chance gives,
so that their layouts differ only by what their code does.
"""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package

from harness.errors import FairclockError
from harness.gate import layout
from harness.gate.counting import VALGRIND
from harness.gate.settings import GateCost, GateSide
from harness.gate.worker import BLOCK, COUNT, DONE, END, ITEM, LEAVE, SHUFFLE
from harness.machine import clocks
from harness.paired.rounds import make_reading
from harness.processes import process_env
from harness.processes.channel import Closed
from harness.processes.launcher import Child, end_all, ended

START: Final = ("-P", "-m", "harness.gate.worker")

_END_S: Final = 2.0
_LAST_LINES: Final = 20
_MOST_PAD: Final = 4096  # bytes: a stack is aligned to 16 bytes, and repeats its effects after a page
_FREE_SHARE: Final = 0.25  # of the memory, which the pairs leave free


class BenchmarkError(FairclockError):
    """A benchmark cannot be timed on one side. `kind` is the kind of the problem, as the worker names it."""

    def __init__(self, kind: str, message: str, *, is_base: bool) -> None:
        super().__init__(message)
        self.kind, self.is_base = kind, is_base


@dataclass(frozen=True, slots=True)
class OneCall:
    """The CPU time and the wall time of one call in seconds, and its wall time with the untimed code around it.

    If its work runs `on_gpu`, only the wall time shows it. `can_fork` says whether a fork of the process can run it.
    """

    cpu_s: float
    wall_s: float
    whole_s: float
    on_gpu: bool
    can_fork: bool


class WorkerProcess:
    """A process of one side. After `begin`, `one_call` waits until the benchmark stands at its timed call."""

    def __init__(self, side: GateSide, variables: dict[str, str], cost: GateCost, *, is_base: bool) -> None:
        valgrind = VALGRIND if cost is GateCost.INSTRUCTIONS else ()
        command = process_env.command([*valgrind, side.python, *START, *side.arguments])
        self.child = Child(command, side.environment | variables, folder=side.root)
        self.item, self._is_base, self._has_collected, self._has_forked = "", is_base, False, False
        self._problem: BenchmarkError | None = None
        self._one_call: OneCall | None = None

    def begin(self, item: str, following: str | None) -> None:
        """Tell the process to run the benchmark `item` up to its timed call, and what it will run after that."""
        self.item, self._one_call = item, None
        self.child.send(ITEM, {"item": item, "next": following})

    def collect(self) -> None:
        """Wait until the process has collected the tests. If it could not, `one_call` raises the problem."""
        if not self._has_collected:
            self._has_collected = True
            try:
                self._answer()
            except BenchmarkError as problem:
                self._problem = problem

    def is_starting(self) -> bool:
        """Return whether the process has not collected the tests yet."""
        return not (self._has_collected or self.child.has_message())

    def is_preparing(self) -> bool:
        """Return whether the process still runs up to a timed call."""
        if not self.is_starting():
            self.collect()
        return bool(self.item) and not (self._problem or self.child.has_message())

    def one_call(self) -> OneCall:
        """Return how long one call takes. Raise `BenchmarkError` if the benchmark never stands at its timed call."""
        self.collect()
        if self._problem:
            raise self._problem
        if self._one_call is None:
            self._one_call = OneCall(**self._answer())
        return self._one_call

    def later_call(self) -> OneCall:
        """Return how long another call takes."""
        began_s, first = clocks.wall(), self.one_call()
        self.request(1, GateCost.CPU)
        cpu_s, wall_s = self.result(1, GateCost.CPU)
        return replace(first, cpu_s=cpu_s, wall_s=wall_s, whole_s=clocks.wall() - began_s)

    def request(self, calls: int, cost: GateCost) -> None:
        """Tell the process to run `calls` calls. `result` waits for them."""
        if cost.is_counted:
            self.child.send(COUNT, {"calls": calls, "cost": cost.name})
        else:
            self.child.send(BLOCK, {"calls": calls})

    def result(self, calls: int, cost: GateCost) -> tuple[float, float]:
        """Wait until the calls have ended, and return the cost and the wall time of one of them."""
        answer = self._answer()
        if cost.is_counted:
            return answer["counted"] / calls, answer["wall_s"] / calls
        read = make_reading(answer["cpu_s"], answer["wall_s"], calls, answer["waited_s"])
        return read.call_s(by_wall=cost is GateCost.WALL), read.wall_s / calls

    def shuffle(self, seed: int, *, forks: bool, populates: bool) -> None:
        """Change the memory layout of the process, or continue in a fork of it, which may get all its memory now."""
        self.leave()
        self.child.send(SHUFFLE, {"seed": seed, "forks": forks, "populates": populates})
        self._answer()
        self._has_forked = forks

    def leave(self) -> None:
        """End the fork, if there is one."""
        if self._has_forked:
            self._has_forked = False
            self.child.send(LEAVE)
            self._answer()

    def finish(self) -> None:
        """Let the benchmark run to its end, with its assertions and its teardown."""
        self.leave()
        self.child.send(END)
        self.item = ""
        self._answer()

    def _answer(self) -> dict[str, Any]:
        try:
            kind, body = self.child.receive()
        except Closed:
            kind, lines = b"", self.child.log_lines()[-_LAST_LINES:]
            body = {
                "kind": "ended",
                "message": f"The process {ended(self.child.exit_status())}.",
                "traceback": "\n".join(lines),
            }
        if kind == DONE:
            return body
        self.item, self._has_forked = "", False
        error = BenchmarkError(body["kind"], body["message"], is_base=self._is_base)
        error.add_note(body["traceback"])
        raise error


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
        """Start this number of pairs on all cores, and wait until each process has collected the tests.

        Nothing is timed yet. Fewer pairs are started if memory would become short.
        """
        began_s, free = clocks.wall(), _free_memory()
        self._ready([self._start(0)])
        self.pair_bytes = max(1.0, free - _free_memory())
        room = _free_memory() / self.pair_bytes
        self._ready([self._start(number) for number in range(1, min(pairs, 1 + max(0, int(room))))])
        self.start_s = (clocks.wall() - began_s) / len(self.pairs)

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
