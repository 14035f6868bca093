"""One process that runs benchmarks for one side: it starts, stands at the timed call, and runs as many as asked for.

The other end of the conversation is `worker.py`, which runs in that process.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

from harness.errors import FairclockError
from harness.gate.counting import VALGRIND
from harness.gate.settings import GateCost, GateSide
from harness.gate.worker import BLOCK, COUNT, DONE, END, ITEM, LEAVE, SHUFFLE
from harness.machine import clocks
from harness.paired.rounds import make_reading
from harness.processes import process_env
from harness.processes.channel import Closed
from harness.processes.launcher import Child, ended

START: Final = ("-P", "-m", "harness.gate.worker")

_LAST_LINES: Final = 20


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
