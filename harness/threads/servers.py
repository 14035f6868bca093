"""Run functions of a program in an interpreter of its own, on one or several threads, and measure their times.

A `ProgramServer` is such an interpreter. It is started once and then answers requests. The program needs only the
standard library, so any build of Python can run it.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from harness.errors import MachineError
from harness.processes import channel
from harness.processes.channel import Closed, Late
from harness.processes.launcher import Child
from harness.threads.builds import PythonBuild

TIMEOUT_S: Final = 120.0
"""Time limit for one answer of a server, in seconds."""

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

_CHANNEL: Final = f"\nCHANNEL_FILE = {channel.__file__!r}\n"


@dataclass(frozen=True, slots=True)
class ServerRun:
    """The wall time, the CPU time of the process, and the results of a function on each of its threads."""

    wall_s: float
    cpu_s: float
    results: tuple[Any, ...]


class ProgramServer:
    """An interpreter that runs functions of a program on request, until `end`."""

    def __init__(self, build: PythonBuild, program: str) -> None:
        self.build = build
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self._child = Child([*build.command, "-c", program + _CHANNEL + _LOOP], environment)
        self.pid, self.end = self._child.pid, self._child.end

    def begin(
        self, name: str, *arguments: object, threads: int = 1, seconds: float | None = None, core: int | None = None
    ) -> None:
        """Let the server call the function `name` on each of `threads` new threads. `finish` returns the result.

        With `seconds`, each thread calls the function again and again for this time, and its result is the number of
        the calls. With `core`, the threads stay on cores of their own, from the core with this index on (only on
        Linux). Several threads do this by default, because a system may leave new threads on one core for a while.
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
    servers = [ProgramServer(build, program) for _ in range(number)]
    try:
        yield servers
    finally:
        for server in servers:
            server.end()
