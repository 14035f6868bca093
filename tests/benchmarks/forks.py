"""A warm process that forks twins: exec'd, it has imported torch, and gives each request a fresh fork of itself.

`python tests/benchmarks/forks.py SOCKET` serves over an inherited socket. A request carries the two pipe ends that
become a twin's standard input and output; the answer is its process id.
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

from harness import twin, twins


class Forked:
    """A fork, held by its pipes. Its parent is the warm process, which lets the kernel reap it."""

    def __init__(self, pid: int, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdin: IO[bytes] | None = stdin
        self.stdout: IO[bytes] | None = stdout

    def wait(self, timeout: float | None = None) -> int:
        """Leave it to its parent; nobody here can know its exit status."""
        del timeout
        return 0

    def kill(self) -> None:
        """End it now."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


class WarmProcess:
    """The parent of forks. `environment` is theirs; they have a fixed layout as twins do."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                twins.command([sys.executable, "-P", "-s", str(Path(__file__).resolve()), str(theirs.fileno())]),
                env=environment,
                pass_fds=[theirs.fileno()],
            )

    def fork(self) -> Forked:
        """Fork a twin that has nothing to do yet."""
        requests, ask = os.pipe()
        hear, answers = os.pipe()
        socket.send_fds(self._ours, [b"f"], [requests, answers])
        os.close(requests)
        os.close(answers)
        return Forked(int(self._ours.recv(32)), os.fdopen(ask, "wb", buffering=0), os.fdopen(hear, "rb", buffering=0))

    def end(self) -> None:
        """Close its socket, at which it ends."""
        self._ours.close()
        self._process.wait()


def main() -> None:
    """Import torch, then fork a twin for each request."""
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
            twin.main()
            return
        for descriptor in descriptors:
            os.close(descriptor)
        server.send(str(pid).encode())


if __name__ == "__main__":
    main()
