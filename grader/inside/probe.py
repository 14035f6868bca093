"""Tries, from within a tree without namespaces, what must be refused there, and prints which promises do not hold.

`isolation.without_namespaces` starts this text once as a tree's program; nothing imports it. Standard library alone.
"""

import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from grader.inside import confine, loading, protocol

WRITTEN_BYTES = 1 << 20
USED = (loading, protocol)
"""Imported because a worker imports them, to see that this works."""


def refused(attempt: Callable[[], object]) -> bool:
    """Whether the system refuses to do this."""
    try:
        attempt()
    except OSError:
        return True
    return False


def status() -> dict[str, str]:
    """What the kernel tells of this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def counted_bytes() -> int:
    """Bytes that this process has written to a disk, or will have; -1 where the kernel does not count them."""
    try:
        lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes"))
    except OSError:
        return -1


def main(uid: int, supervisor: int, private: str, place: str) -> None:
    """Print the promises that do not hold here, and whether written bytes are counted."""
    confine.narrow()
    of_kernel, own = status(), os.environ["TMPDIR"]
    holds = {
        "another user": os.getresuid() == (uid, uid, uid) and os.getresgid() == (uid, uid, uid) and not os.getgroups(),
        "no capabilities": not any(int(of_kernel[name], 16) for name in ("CapPrm", "CapEff", "CapInh", "CapBnd")),
        "a filter of system calls": of_kernel["Seccomp"] == "2" and of_kernel["NoNewPrivs"] == "1",
        "no private file": refused(Path(private).read_bytes),
        "no file outside of its folder": refused(Path(place, f"probe-{os.getpid()}").mkdir),
        "no list of processes": refused(lambda: list(Path("/proc").iterdir())),
        "no foreign process": refused(Path(f"/proc/{supervisor}/status").read_bytes),
        "no signal to others": refused(lambda: os.kill(supervisor, 0)),
        "no sockets": refused(lambda: socket.socket(socket.AF_UNIX)) and refused(socket.socket),
    }
    before = counted_bytes()
    Path(own, "probe").write_bytes(bytes(WRITTEN_BYTES))
    lacking = [name for name, held in holds.items() if not held]
    print(json.dumps({"lacking": lacking, "counted": counted_bytes() - before >= WRITTEN_BYTES}))


main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5])
