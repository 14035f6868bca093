"""Try the actions that a sandbox without Linux namespaces must refuse, and print the actions that succeed.

`isolation.without_namespaces` runs this text in such a sandbox. It imports only the standard library and other files of
this folder.
"""

import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from grader.inside import confine, loading, protocol  # noqa: F401 - Python must be able to read them in the sandbox

WRITTEN_BYTES = 1 << 20


def refused(attempt: Callable[[], object]) -> bool:
    """Call `attempt`, and return whether it raises an `OSError`."""
    try:
        attempt()
    except OSError:
        return True
    return False


def counted_bytes() -> int:
    """Return the bytes that this process has written to files, or -1 if the kernel does not count them."""
    try:
        return int(confine.fields("/proc/self/io")["write_bytes"])
    except OSError:
        return -1


def main(uid: int, supervisor: int, private: str, place: str) -> None:
    """Print as JSON the forbidden actions that succeed, and whether the kernel counts written bytes.

    `uid` is this process's user, and `supervisor` the process id of the grader. `private` is a file, and `place` a
    folder, that this process must not be able to use.
    """
    confine.restrict_files()
    of_kernel, own = confine.fields("/proc/self/status"), os.environ["TMPDIR"]
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
