"""Fork paired processes (a baseline and a candidate to be timed) from a process that has already imported torch.

`python tests/benchmarks/forks.py SOCKET` answers requests on an inherited socket. A request carries the two pipe ends
that become the new process's standard input and output. The answer is its process id.
"""

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

from harness.paired import paired_process_main, process_env


class Forked:
    """A forked process and its pipes. The warm process is its parent."""

    def __init__(self, pid: int, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdin: IO[bytes] | None = stdin
        self.stdout: IO[bytes] | None = stdout

    def wait(self, timeout: float | None = None) -> int:
        """Do nothing, because only the parent process can get the exit status."""
        del timeout
        return 0

    def kill(self) -> None:
        """Kill the forked process."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


class WarmProcess:
    """The parent of all forked processes. They get `environment` and a fixed memory layout, as other paired processes
    do.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        self._ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                process_env.command([sys.executable, "-P", "-s", str(Path(__file__).resolve()), str(theirs.fileno())]),
                env=environment,
                pass_fds=[theirs.fileno()],
            )

    def fork(self) -> Forked:
        """Fork a paired process that is ready for work."""
        requests, ask = os.pipe()
        hear, answers = os.pipe()
        socket.send_fds(self._ours, [b"f"], [requests, answers])
        os.close(requests)
        os.close(answers)
        return Forked(int(self._ours.recv(32)), os.fdopen(ask, "wb", buffering=0), os.fdopen(hear, "rb", buffering=0))

    def end(self) -> None:
        """Close the socket of the warm process, so that the process ends."""
        self._ours.close()
        self._process.wait()


def main() -> None:
    """Import torch, then fork a paired process for each request."""
    import torch

    torch.set_num_threads(1)
    torch.ones(8).sum()
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    server = socket.socket(fileno=int(sys.argv[1]))
    while True:
        request, descriptors, _, _ = socket.recv_fds(server, 1, 2)
        if not request:
            return
        pid = os.fork()
        if pid == 0:
            server.close()
            for standard, descriptor in enumerate(descriptors):
                os.dup2(descriptor, standard)
                os.close(descriptor)
            paired_process_main.main()
            return
        for descriptor in descriptors:
            os.close(descriptor)
        server.send(str(pid).encode())


if __name__ == "__main__":
    main()
