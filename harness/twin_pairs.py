"""Pairs of twin processes: started, asked, timed and ended from here (`harness.twin` is what runs in them).

A turn is one request, a number of calls, and one answer. The clock that counts is the twin's process CPU clock, read by
this process from the same core, so that it is exact (`harness.twins`). Asking has a price, the same for every turn: it
is measured by turns of no calls and taken off. The core is held by a lane, so no other measurement here shares it.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import IO, Final, Protocol

from harness import clocks, twins
from harness.blocks import COUNTED, calibrate
from harness.clocks import Clock, process_cpu
from harness.errors import FairclockError, MachineError, UsageError
from harness.lanes import lane
from harness.pairs import Ground, Side, Turns
from harness.rounds import Reading, taken
from harness.twin import INSIDE_VARIABLE, Failure, Job, job

TURN_S: Final = 0.4e-3
"""Length of a twin's turn. On two cores with seven processes to run, a second of such turns told a pair's ratio two to
six times as closely as a second of turns of 1 ms, which fit less well between two bursts of the neighbours; in turns of
0.2 ms it shows that another process ran before. Asking costs 4 to 6 µs of it, alike in every turn."""

_NULL_TURNS: Final = 9
"""Turns of no calls of each fresh twin: their median is the price of asking."""

_WARM_UP_TURNS: Final = 3
"""Turns of each fresh twin that are not kept."""

_END_S: Final = 2.0
"""How long twins may take to end when their pipes are closed, before they are killed."""

_KIT: Final = Path(__file__).parent.parent

_NEEDED_TO_START: Final = ("LD_LIBRARY_PATH", "SYSTEMROOT")
"""What an interpreter may need in its environment to start at all, on Linux and on Windows."""


COMMAND: Final = (sys.executable, "-P", "-s", "-m", "harness.twin")
"""What a twin runs."""


class TwinError(FairclockError):
    """The code in a twin process, or its setup, raised something or ended the process."""


class Process(Protocol):
    """What a twin's process must offer; `subprocess.Popen` does."""

    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status, or raise `subprocess.TimeoutExpired`."""
        ...

    def kill(self) -> None:
        """End it now."""
        ...


def begin(command: Sequence[str] | None = None, variables: Mapping[str, str] | None = None) -> Process:
    """Start a twin that has nothing to do yet. It can be told apart from others only by what is given here."""
    return subprocess.Popen(
        twins.command(COMMAND) if command is None else command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env=environment() if variables is None else variables,
        # A group of its own: an interrupt at the terminal is for whoever measures, who then ends the twins.
        process_group=0 if os.name == "posix" else None,
    )


class Twin:
    """A process of its own for one side. It prepares by itself; `meet` waits until it is ready to take turns."""

    def __init__(self, name: str, work: Job, process: Process) -> None:
        self._name, self._process, self.pid = name, process, process.pid
        self.prepare(work)

    def prepare(self, work: Job) -> None:
        """Have it make the timing loop of this job and leave any earlier one. Meet it before you ask."""
        self._write(json.dumps(work).encode() + b"\n")

    def meet(self) -> None:
        """Wait until it has prepared. Raises what `ask` does."""
        self._hear()

    def ask(self, calls: int) -> None:
        """Have it make that many calls, and wait until it has.

        Raises `UsageError` for code that cannot be timed, `TwinError` when the code raises or ends the process.
        """
        self._write(b"%d\n" % calls)
        self._hear()

    def dismiss(self) -> None:
        """Close its pipes, at which it ends by itself."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def end(self, within_s: float = 0.0) -> None:
        """Give a dismissed twin so long to end by itself, then kill it."""
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended, and what is heard next says why
            self._process.stdin.write(line)

    def _hear(self) -> None:
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if answer == b"\n":
            return
        if not answer:
            status = self._process.wait()
            raise TwinError(
                f"The process of the {self._name} ended with exit status {status}; run its code without a duel to see "
                "why."
            )
        failure: Failure = json.loads(answer)
        error: FairclockError = (
            UsageError(f"In the {self._name}: {failure['message']}")
            if failure["usage"]
            else TwinError(f"The {self._name} raised {failure['message']}. Correct it or its setup, and measure again.")
        )
        error.add_note(failure["traceback"])
        raise error


@dataclass(frozen=True, slots=True)
class Timed:
    """Whoever makes calls when asked, with the clock that counts and the wall clock of who asks."""

    ask: Callable[[int], None]
    counted: Clock
    wall: Clock

    def turn(self, calls: int) -> Reading:
        """Make a turn of so many calls; what it cost, with the price of asking."""
        began_wall_s, began_s = self.wall(), self.counted()
        self.ask(calls)
        ended_s, ended_wall_s = self.counted(), self.wall()
        return taken(ended_s - began_s, ended_wall_s - began_wall_s, max(calls, 1))

    def net(self, calls: int, asking: Reading) -> Reading:
        """Make a turn; what it cost without the price of asking, but at least half of what was read."""
        paid = self.turn(calls)
        cpu_s = max(paid.cpu_s - asking.cpu_s, paid.cpu_s / 2)
        return Reading(cpu_s, max(paid.wall_s - asking.wall_s, paid.wall_s / 2), calls)


def timed(twin: Twin, core: int | None, counted: Clock | None, wall: Clock) -> Timed:
    """Bind a twin to the core from which it is asked. What counts is by default its own CPU clock."""
    twins.pin(twin.pid, core)
    return Timed(twin.ask, counted or process_cpu(twin.pid), wall)


@contextmanager
def twin_pairs(
    sides: tuple[Side, Side], rng: random.Random, clock: Clock, wall: Clock, at_once: int
) -> Iterator[Ground]:
    """Fight between twin processes, those of the first `at_once` pairs started together.

    `sides` are the baseline and the candidate. With `clock` as `COUNTED` the CPU clock of each process counts.

    Raises `UsageError` for code that cannot be timed or cannot be sent to another process, `TwinError` when it raises,
    `MachineError` when no lane can be had.
    """
    if INSIDE_VARIABLE in os.environ:
        raise UsageError(
            "A twin process has loaded the script that started it, and would start twins again: put the duel under "
            'if __name__ == "__main__".'
        )
    jobs = [job(side.statement, side.setup) for side in sides]
    counted = _counted(clock, wall)
    started: list[Twin] = []

    def start() -> tuple[Twin, Twin]:
        pair: dict[int, Twin] = {}
        for side in rng.sample((0, 1), 2):
            pair[side] = Twin(sides[side].name, jobs[side], begin())
            started.append(pair[side])
        return pair[0], pair[1]

    try:
        waiting = [start() for _ in range(at_once)]
        for one in started:
            one.meet()
        with _core() as core, twins.pinned(core):
            rehearsal = [timed(one, core, counted, wall) for one in waiting[0]]
            calls = [calls_in_a_turn(one) for one in rehearsal]
            round_s = sum(one.turn(n).wall_s for one, n in zip(rehearsal, calls, strict=True))

            @contextmanager
            def open_pair(number: int) -> Iterator[Turns]:
                pair = waiting.pop(0) if waiting else start()
                if number >= at_once:
                    for one in pair:
                        one.meet()
                baseline, candidate = (timed(one, core, counted, wall) for one in pair)
                asking = _price_of_asking(baseline, candidate)
                for _ in range(_WARM_UP_TURNS):
                    baseline.turn(calls[0])
                    candidate.turn(calls[1])
                yield Turns(number, partial(baseline.net, calls[0], asking), partial(candidate.net, calls[1], asking))

            yield Ground(open_pair, round_s, _caveat(counted_by_wall=clock is COUNTED and counted is wall))
    finally:
        end(started)


def end(started: Sequence[Twin]) -> None:
    """End twins, all at once, as politely as `_END_S` allows."""
    for one in started:
        one.dismiss()
    deadline_s = clocks.wall() + _END_S
    for one in started:
        one.end(within_s=max(0.0, deadline_s - clocks.wall()))


def calls_in_a_turn(one: Timed) -> int:
    """Return how many calls last about `TURN_S`."""
    block = calibrate(one.turn)
    return max(1, round(block.calls * TURN_S / block.wall_s))


def _price_of_asking(*pair: Timed) -> Reading:
    """Ask by turns for nothing, as a round does: each finds the core as another process has left it."""
    asked = [one.turn(0) for _ in range(_NULL_TURNS) for one in pair]
    return Reading(median(null.cpu_s for null in asked), median(null.wall_s for null in asked))


def _counted(clock: Clock, wall: Clock) -> Clock | None:
    """Return the clock that counts: None for the CPU clock of each twin, the wall where there is no such clock."""
    if clock is not COUNTED:
        return clock
    try:
        process_cpu(os.getpid())
    except MachineError:
        return wall
    return None


def _caveat(*, counted_by_wall: bool) -> str:
    """Return what this machine lacks for more than an estimate."""
    lacks = []
    if counted_by_wall:
        lacks.append("no process here may read another's CPU clock, so the wall clock counted")
    if not twins.fixed_layout():
        lacks.append("without setarch -R, which does not run here, each process has a memory layout of its own")
    return "; ".join(lacks)


@contextmanager
def _core() -> Iterator[int | None]:
    """Hold a lane where there are lanes."""
    if sys.platform == "win32":
        yield None
        return
    with lane() as held:
        yield held.core


def environment() -> dict[str, str]:
    """Return the environment of every twin, the same whoever calls."""
    needed = {name: os.environ[name] for name in _NEEDED_TO_START if name in os.environ}
    return {**twins.ENVIRONMENT, **needed, "PYTHONPATH": str(_KIT), INSIDE_VARIABLE: "1"}
