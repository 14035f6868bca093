"""Start pairs of processes that run timed code (`harness.paired.paired_process_main`), and time their calls.

A *turn* is a block of calls in one process, which the caller requests. It reads the CPU clock of the paired process on
the same core, so the time is exact. The overhead of a request is measured with requests for zero calls, and subtracted.
"""

import os
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Final

from harness.errors import FairclockError, MachineError, UsageError
from harness.machine import clocks
from harness.machine.clocks import Clock, CoreWait, process_cpu
from harness.machine.lanes import lane
from harness.paired.blocks import DEFAULT_CLOCK, PairSource, TimedCode, TurnPair, calibrate, common_calls
from harness.paired.paired_process_main import (
    CALLS,
    DONE,
    DONE_FRAME,
    PAIRED_PROCESS_VARIABLE,
    PREPARE,
    RUN_FRAME,
    Job,
    make_job,
)
from harness.paired.rounds import Reading, make_reading
from harness.paired.state import FirstCall
from harness.processes import process_env
from harness.processes.channel import Closed
from harness.processes.launcher import KIT, Child, end_all, ended

TURN_S: Final = 0.4e-3
"""Length of a timed block of calls in a paired process, in seconds. With 1 ms, errors were two to six times larger.
Blocks of 0.2 ms are changed by the process that ran before."""

_NULL_TURNS: Final = 9  # the median time of these requests for zero calls is the request overhead
_WARM_UP_TURNS: Final = 3
_END_S: Final = 2.0  # a process that has not ended by itself after this time is killed
_LAST_LINES: Final = 20  # the number of printed lines that the error of a process that has ended shows
_COMMAND: Final = (sys.executable, "-P", "-s", "-m", "harness.paired.paired_process_main")

# Environment variables of the caller that a Python interpreter may need to start, on Linux and on Windows.
_NEEDED_TO_START: Final = ("LD_LIBRARY_PATH", "SYSTEMROOT")


class PairedProcessError(FairclockError):
    """The timed code in a paired process, or its setup, raised an exception or ended the process."""


class PairedProcess:
    """A process that runs the baseline or the candidate of a duel. Call `wait_until_ready` before `run_calls`."""

    def __init__(self, name: str, job: Job) -> None:
        self._name, self._calls, self.first_call = name, 0, FirstCall(0.0)
        self.child = Child(process_env.command(_COMMAND), process_environment())
        self.pid = self.child.pid
        self.child.send(PREPARE, job)

    def wait_until_ready(self, *, began: bytes = b"") -> None:
        """Wait for the answer of the process, which begins with the bytes `began`. Raise the errors of `run_calls`."""
        try:
            kind, answer = self.child.receive(began=began)
        except Closed:
            ending = ended(self.child.exit_status())
            error = PairedProcessError(
                f"The process of the {self._name} {ending}. Run its code without a duel to find out why."
            )
            if printed := self.child.log_lines()[-_LAST_LINES:]:
                error.add_note("\n".join(printed))
            raise error from None
        if kind != DONE:
            raise self._error(answer)
        if answer:
            self.first_call = FirstCall(answer["seconds"], tuple(answer["changed"]))

    def run_calls(self, calls: int) -> None:
        """Run `calls` calls in the process, and wait until they are finished.

        Raise `UsageError` if the code cannot be timed, and `PairedProcessError` if it fails or ends the process.
        """
        if calls != self._calls:
            self._calls = calls
            self.child.send(CALLS, {"calls": calls})
            self.wait_until_ready()
        with suppress(BrokenPipeError):  # the process has ended, and `wait_until_ready` reports the reason
            os.write(self.child.channel.writing, RUN_FRAME)
        answer = os.read(self.child.channel.descriptor, len(DONE_FRAME))
        if answer != DONE_FRAME:
            self.wait_until_ready(began=answer)

    def _error(self, failure: Mapping[str, str]) -> FairclockError:
        words = f"The {self._name} raised {failure['message']}. Correct it or its setup, and measure again."
        error: FairclockError = PairedProcessError(words)
        if failure["usage"]:
            error = UsageError(f"In the {self._name}: {failure['message']}")
        else:
            error.add_note(failure["traceback"])
        return error


def process_environment() -> dict[str, str]:
    """Return the environment variables of every paired process. Only those that Python needs are the caller's."""
    needed = {name: os.environ[name] for name in _NEEDED_TO_START if name in os.environ}
    return {**process_env.ENVIRONMENT, **needed, "PYTHONPATH": str(KIT), PAIRED_PROCESS_VARIABLE: "1"}


@dataclass(frozen=True, slots=True)
class TimedWorker:
    """A process that runs timed code, with the CPU clock of the process and the caller's wall clock.

    `waited` are clocks of the times for which the process, and this thread, have waited for their core.
    """

    run_calls: Callable[[int], None]
    clock: Clock
    wall: Clock
    waited: tuple[Clock, ...] = ()

    def turn(self, calls: int) -> Reading:
        """Let the other process run `calls` calls, and return their times, with the overhead of this request."""
        waited_s, began_wall_s, began_s = self._waited_s(), self.wall(), self.clock()
        self.run_calls(calls)
        ended_s, ended_wall_s = self.clock(), self.wall()
        waited_s = self._waited_s() - waited_s
        return make_reading(ended_s - began_s, ended_wall_s - began_wall_s, max(calls, 1), waited_s)

    def _waited_s(self) -> float:
        return sum(waited() for waited in self.waited)

    def net_turn(self, calls: int, overhead: Reading) -> Reading:
        """Run `calls` calls, and return their times without the request's overhead, but at least half of each time."""
        gross = self.turn(calls)
        cpu_s = max(gross.cpu_s - overhead.cpu_s, gross.cpu_s / 2)
        return make_reading(cpu_s, max(gross.wall_s - overhead.wall_s, gross.wall_s / 2), calls, gross.waited_s)


@contextmanager
def _timed(
    pair: tuple[PairedProcess, PairedProcess], core: int | None, clock: Clock | None, wall: Clock
) -> Iterator[list[TimedWorker]]:
    # If `clock` is None, use the CPU clock of each process. A fake wall clock has no waiting.
    with ExitStack() as files:
        workers = []
        for process in pair:
            process_env.pin(process.pid, core)
            waits = (CoreWait(process.pid), CoreWait()) if wall is clocks.wall else ()
            for wait in waits:
                files.callback(wait.close)
            workers.append(TimedWorker(process.run_calls, clock or process_cpu(process.pid), wall, waits))
        yield workers


@contextmanager
def process_pairs(
    sides: tuple[TimedCode, TimedCode], rng: random.Random, clock: Clock, wall: Clock, at_once: int
) -> Iterator[PairSource]:
    """Yield a source of newly started pairs of processes for a duel. The first `at_once` pairs start together.

    With `DEFAULT_CLOCK`, the CPU clock of each process is used. Raise `UsageError` for code that cannot be timed or
    sent to another process, and `PairedProcessError` if the code fails.
    """
    if PAIRED_PROCESS_VARIABLE in os.environ:
        raise UsageError(
            "A paired process loads the script that started it, and must not start another duel. Put the duel under "
            'if __name__ == "__main__".'
        )
    jobs = [make_job(side.statement, side.setup) for side in sides]
    chosen = _chosen_clock(clock, wall)
    started: list[PairedProcess] = []

    def start() -> tuple[PairedProcess, PairedProcess]:
        pair: dict[int, PairedProcess] = {}
        for side in rng.sample((0, 1), 2):
            pair[side] = PairedProcess(sides[side].name, jobs[side])
            started.append(pair[side])
        return pair[0], pair[1]

    try:
        waiting = [start() for _ in range(at_once)]
        for one in started:
            one.wait_until_ready()
        with lane() if sys.platform != "win32" else nullcontext() as held, ExitStack() as binding:
            core = held.core if held else None
            binding.enter_context(process_env.pinned(core))
            with _timed(waiting[0], core, chosen, wall) as first:
                calls = common_calls(*map(calls_in_a_turn, first))
                round_s = sum(one.turn(n).wall_s for one, n in zip(first, calls, strict=True))
            first_calls = waiting[0][0].first_call, waiting[0][1].first_call

            @contextmanager
            def open_pair(number: int) -> Iterator[TurnPair]:
                pair = waiting.pop(0) if waiting else start()
                for one in pair:
                    if number >= at_once:
                        one.wait_until_ready()
                with _timed(pair, core, chosen, wall) as workers:
                    overhead = _request_overhead(workers)
                    for _ in range(_WARM_UP_TURNS):
                        for worker, n in zip(workers, calls, strict=True):
                            worker.turn(n)
                    turns = [partial(one.net_turn, n, overhead) for one, n in zip(workers, calls, strict=True)]
                    yield TurnPair(number, *turns)

            yield PairSource(
                open_pair, round_s, first_calls, _caveat(by_wall=clock is DEFAULT_CLOCK and chosen is wall)
            )
    finally:
        end_all([one.child for one in started], _END_S)


def calls_in_a_turn(one: TimedWorker) -> int:
    """Return the number of calls that take this worker about `TURN_S` seconds together."""
    block = calibrate(one.turn)
    return max(1, round(block.calls * TURN_S / block.wall_s))


def _request_overhead(pair: Sequence[TimedWorker]) -> Reading:
    empty = [one.turn(0) for _ in range(_NULL_TURNS) for one in pair]
    return Reading(median(null.cpu_s for null in empty), median(null.call_s(by_wall=True) for null in empty))


def _chosen_clock(clock: Clock, wall: Clock) -> Clock | None:
    # None stands for the CPU clock of each process. Some systems do not show the CPU clock of another process.
    if clock is not DEFAULT_CLOCK:
        return clock
    try:
        process_cpu(os.getpid())
    except MachineError:
        return wall
    return None


def _caveat(*, by_wall: bool) -> str:
    lacks = []
    if by_wall:
        lacks.append("times are wall times, because this system does not show the CPU clock of another process")
    if process_env.why_layout_varies():
        lacks.append("each process has its own memory layout, because setarch -R does not run here")
    return "; ".join(lacks)
