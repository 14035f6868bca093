"""Run programs in processes forked from one that has imported the grader, or torch, already.

Starting Python and importing modules takes longer than most programs run. Each program has its own process, with its
own session, environment, folder, standard streams and exit code. `CommandServer` is the client. Run as a script, this
file is the server: it serves the socket whose descriptor is its argument.
"""

import atexit
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_BYTES = 1 << 17
GRADER, SCRIPT = "grader", "script"
"""The kinds of programs that a server runs: commands of `python -m grader`, and scripts that import torch."""
READ_LATE = ("FAIRCLOCK_", "PYTEST_")
"""The beginnings of names of environment variables that no module reads during its import."""


@dataclass(frozen=True)
class Ended:
    """A program after its end. Processes that it left behind are in the session `pid`, unless they left it."""

    pid: int
    code: int
    out: str
    err: str


class CommandServer:
    """A server process, started for the first program, and ended with this process."""

    def __init__(self, kind: str = GRADER) -> None:
        self._kind = kind
        self._process: subprocess.Popen[bytes] | None = None
        self._environment: dict[str, str] = {}

    @property
    def pid(self) -> int | None:
        """The server's process, or None before the first program."""
        return self._process.pid if self._process else None

    def run(
        self, arguments: Sequence[str], environment: Mapping[str, str], timeout_s: float, folder: Path = ROOT
    ) -> Ended | None:
        """Run a program in a folder to its end.

        Return None if the environment has other variables than the one in which the server has imported its modules.
        """
        if self._process is None:
            self._start(environment)
        if _when_imported(environment) != self._environment:
            return None
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, Path(os.devnull).open("rb") as nothing:
            request = json.dumps([list(arguments), dict(environment), str(folder)]).encode()
            socket.send_fds(self._channel, [request], [nothing.fileno(), out.fileno(), err.fileno()])
            self._channel.settimeout(timeout_s)
            pid, code = map(int, self._channel.recv(MOST_BYTES).split())
            texts = []
            for stream in (out, err):
                stream.seek(0)
                texts.append(stream.read().decode("utf-8"))
        return Ended(pid, code, *texts)

    def _start(self, environment: Mapping[str, str]) -> None:
        self._environment = _when_imported(environment)
        self._channel, server = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        quiet = subprocess.DEVNULL
        with server:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(server.fileno()), self._kind],
                env={"PYTHONPATH": str(ROOT), **environment},
                stdin=quiet,
                stdout=quiet,
                stderr=quiet,
                pass_fds=[server.fileno()],
            )
        atexit.register(self._end)

    def _end(self) -> None:
        assert self._process
        self._channel.close()  # ends the server
        self._process.wait()


def _when_imported(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(READ_LATE)}


def serve(channel: socket.socket, kind: str) -> None:
    """Fork a process for each program, and send its process id and exit code, until the client has ended."""
    if kind == GRADER:
        import grader.commands.apps
        import grader.commands.staff  # noqa: F401 - the forked processes find it imported
    else:
        import torch  # noqa: F401 - the forked processes find it imported
    while True:
        request, descriptors, _, _ = socket.recv_fds(channel, MOST_BYTES, 3)
        if not request:
            return
        child = os.fork()
        if not child:
            channel.close()
            arguments, environment, folder = json.loads(request)
            os.setsid()
            for place, descriptor in enumerate(descriptors):
                os.dup2(descriptor, place)
                os.close(descriptor)
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            run_here(kind, arguments)
            return
        for descriptor in descriptors:
            os.close(descriptor)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        channel.send(f"{child} {code}".encode())


def run_here(kind: str, arguments: list[str]) -> None:
    """Run a program in this process. It ends the process with its exit code."""
    if kind == SCRIPT:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")
        return
    from grader.commands.apps import run_grader

    sys.argv = [GRADER, *arguments]
    sys.exit(run_grader(arguments))


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
