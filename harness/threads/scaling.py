"""Run functions of a program on threads and on processes, and compare their speed."""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from harness.errors import MachineError
from harness.processes import channel, process_env
from harness.processes.channel import Closed, Late
from harness.processes.launcher import Child
from harness.threads.builds import PythonBuild

TIMEOUT_S: Final = 120.0
"""Time limit for one answer of a server, in seconds."""

ALONE, AT_ONCE = 0.8, 0.7
"""If one thread that computes, or several processes, used a smaller share of a core each, others disturbed them."""

MOST, FEWEST = 0.75, 3
"""A comparison counts only if at least this part of its turns was undisturbed, and at least `FEWEST` turns."""

_LOOP: Final = """
def _serve():
    import os, threading, time

    def answer(name, arguments, number, seconds, core):
        function, results, errors = globals()[name], [None] * number, []

        def call(place):
            try:
                if core is not None:
                    stay_on(core + place)
                if seconds is None:
                    results[place] = function(*arguments)
                else:
                    results[place] = repeat(function, arguments, time.perf_counter() + seconds)
            except BaseException as error:
                errors.append(f"{type(error).__name__}: {error}")

        threads = [threading.Thread(target=call, args=(place,)) for place in range(number)]
        cpu, wall = time.process_time(), time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        return {"wall_s": wall, "cpu_s": cpu, "results": results, "errors": errors}

    def stay_on(core):
        if hasattr(os, "sched_setaffinity"):
            allowed = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(0, {allowed[core % len(allowed)]})

    def repeat(function, arguments, end):
        done = 0
        while time.perf_counter() < end:
            function(*arguments)
            done += 1
        return done

    names = {"__name__": "channel"}
    with open(CHANNEL_FILE, encoding="utf-8") as file:
        exec(file.read(), names)
    connection = names["stdio_channel"]()
    while True:
        try:
            kind, request = connection.receive()
        except names["Closed"]:
            return
        connection.send(kind, answer(**request))

_serve()
"""


@dataclass(frozen=True, slots=True)
class ServerRun:
    """The wall time, the CPU time of the process, and the results of a function on each of its threads."""

    wall_s: float
    cpu_s: float
    results: tuple[Any, ...]


class ProgramServer:
    """An interpreter that runs functions of a program on request, until `end`.

    The program needs only the standard library, so any build of Python can run it.
    """

    def __init__(self, build: PythonBuild, program: str) -> None:
        self.build = build
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        source = f"{program}\nCHANNEL_FILE = {channel.__file__!r}\n{_LOOP}"
        self._child = Child([*build.command, "-c", source], environment)
        self.pid, self.end = self._child.pid, self._child.end

    def begin(
        self, name: str, *arguments: object, threads: int = 1, seconds: float | None = None, core: int | None = None
    ) -> None:
        """Let the server call the function `name` on each of `threads` new threads. `finish` returns the result.

        With `seconds`, each thread calls the function for this time, and its result is the number of the calls. With
        `core`, the threads stay on cores of their own, from this index on (on Linux). Several threads always do.
        """
        core = 0 if core is None and threads > 1 else core
        request = {"name": name, "arguments": arguments, "number": threads, "seconds": seconds, "core": core}
        self._child.send(b"r", request)

    def finish(self) -> ServerRun:
        """Return the times and results of the calls that `begin` started. Raise `MachineError` if they failed."""
        try:
            _, found = self._child.receive(TIMEOUT_S)
        except (Closed, Late) as error:
            self._child.kill()
            lines = self._child.log_lines() or [f"exit status {self._child.exit_status()}"]
            raise MachineError(f"{self.build.name} stopped: {lines[-1]}. Run the lesson again.") from error
        if found["errors"]:
            raise MachineError(f"The program failed in {self.build.name}: {found['errors'][0]}.")
        return ServerRun(float(found["wall_s"]), float(found["cpu_s"]), tuple(found["results"]))

    def run(self, name: str, *arguments: object, **options: Any) -> ServerRun:
        """Call a function on new threads of the server, and return their times and results, as `begin` and `finish`."""
        self.begin(name, *arguments, **options)
        return self.finish()


@contextlib.contextmanager
def serve(build: PythonBuild, program: str, number: int = 1) -> Iterator[list[ProgramServer]]:
    """Start `number` servers that run functions of `program`, and end them after the block."""
    servers: list[ProgramServer] = []
    try:
        servers += (ProgramServer(build, program) for _ in range(number))
        yield servers
    finally:
        for server in servers:
            server.end()


class ScalingTurn(NamedTuple):
    """The calls per second of one worker, of several threads, and of several processes.

    `alone` is the share of a core that the one worker used, `at_once` the mean share that each process used.
    """

    workers: int
    one: float
    threads: float
    processes: float
    alone: float
    at_once: float

    @property
    def by_threads(self) -> float:
        """The speedup of the threads: their calls per second, divided by those of one thread."""
        return self.threads / self.one

    @property
    def by_processes(self) -> float:
        """The speedup of the processes."""
        return self.processes / self.one

    @property
    def against_processes(self) -> float:
        """The calls per second of the threads, divided by those of the processes."""
        return self.threads / self.processes

    @property
    def undisturbed(self) -> bool:
        """Whether each process of a function that computes had a core. False also if the machine has too few cores."""
        return self.alone >= ALONE and self.at_once >= AT_ONCE


def can_limit() -> bool:
    """Return whether this system can limit a thread to some cores. macOS cannot."""
    return sys.platform == "linux"


def limited_to(cores: int) -> AbstractContextManager[None]:
    """Limit the calling thread, and threads that it starts, to `cores` cores in a `with` block, if `can_limit`."""
    return process_env.pinned(sorted(os.sched_getaffinity(0))[:cores] if can_limit() else None)


def undisturbed(turns: Sequence[ScalingTurn]) -> list[ScalingTurn]:
    """Return the turns in which each process of a computing function had a core of its own.

    Return an empty list if other programs disturbed many turns: then also threads, which the CPU time does not show.
    """
    good = [turn for turn in turns if turn.undisturbed]
    return good if len(good) >= max(FEWEST, MOST * len(turns)) else []


def take_turns(servers: list[ProgramServer], name: str, *, seconds: float, turns: int) -> list[ScalingTurn]:
    """Return the calls per second of a function on one thread, on threads of the first server, and on all servers.

    The three ways take turns of `seconds`, so that a disturbance of the machine does not hit only one of them. On
    Linux, each thread and process stays on a core of its own.
    """
    first, workers = servers[0], len(servers)
    for server in servers:
        server.run(name)  # the first call is slower
    found = []
    for _ in range(turns):
        one = first.run(name, seconds=seconds, core=0)
        threads = first.run(name, threads=workers, seconds=seconds)
        for core, server in enumerate(servers):
            server.begin(name, seconds=seconds, core=core)
        processes = [server.finish() for server in servers]
        share = sum(_share(run) for run in processes) / workers
        found.append(ScalingTurn(workers, _rate(one), _rate(threads), sum(map(_rate, processes)), _share(one), share))
    return found


def _rate(run: ServerRun) -> float:
    calls: int = sum(run.results)
    return max(calls, 1) / run.wall_s


def _share(run: ServerRun) -> float:
    return run.cpu_s / run.wall_s
