"""Read the memory of a running script with memray's live tracking, as `memray live` shows it.

The script runs under `memray run --live-remote`. It sends each allocation and each free through a socket on the
loopback address. memray is an optional package.
"""

import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.errors import UsageError

PAUSE: Final = """
def pause(name):
    import sys
    print(name, flush=True)
    sys.stdin.readline()

"""
"""A function for scripts: it prints the name of a stage, and waits until this stage was read."""

START_S: Final = 60.0
"""Time limit for the script, in seconds."""

_SETTLE_S: Final = 5.0
_POLL_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class LiveStage:
    """The allocated bytes of each function of a script at one stage, while the script waited."""

    name: str
    n_bytes: dict[str, int]


def live_stages(script: str, functions: Sequence[str], *, timeout_s: float = START_S) -> tuple[LiveStage, ...]:
    """Run a script under memray's live tracking, and return the memory of `functions` at each stage of the script.

    The script calls `pause(name)` at the end of a stage. Raise `UsageError` if the script fails or takes too long.
    memray must be installed.
    """
    from memray import SocketReader  # noqa: PLC0415 - an optional package

    port, stages = _free_port(), list[LiveStage]()
    with tempfile.TemporaryDirectory(prefix="fairclock-live-") as folder:
        path = Path(folder) / "script.py"
        path.write_text(PAUSE + script, encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-m", "memray", "run", "-q", "--live-remote", "--live-port", str(port), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        deadline = threading.Timer(timeout_s, process.kill)
        deadline.start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with _connected(SocketReader, port, process) as reader:
                for line in process.stdout:
                    stages.append(LiveStage(line.strip(), _settled(reader, functions)))
                    process.stdin.write("\n")
                    process.stdin.flush()
                process.wait()
        finally:
            deadline.cancel()
            process.kill()
            process.communicate()
    if process.returncode:
        raise UsageError(f"The script failed, or ran longer than {timeout_s:g} s, under memray's live tracking.")
    return tuple(stages)


def _connected(reader: Any, port: int, process: subprocess.Popen[str]) -> Any:
    """Return a reader for a new script. memray's reader waits until the script listens.

    Raise `UsageError` if the script ends before.
    """
    while process.poll() is None:
        try:
            return reader(port=port)
        except OSError:
            time.sleep(_POLL_S)
    raise UsageError("The script ended before memray's live tracking began.")


def _settled(reader: Any, functions: Sequence[str]) -> dict[str, int]:
    """Return the bytes of each function as soon as several snapshots agree.

    A snapshot can be older than the stage, because memray sends its data in groups.
    """
    ends_s = time.monotonic() + _SETTLE_S
    seen, equal = _snapshot(reader, functions), 0
    while equal < 6 and time.monotonic() < ends_s:
        time.sleep(_POLL_S)
        before, seen = seen, _snapshot(reader, functions)
        equal = equal + 1 if seen == before else 0
    return seen


def _snapshot(reader: Any, functions: Sequence[str]) -> dict[str, int]:
    found = Counter[str](dict.fromkeys(functions, 0))
    for record in reader.get_current_snapshot(merge_threads=True):
        for name, _, _ in record.stack_trace(max_stacks=1):
            if name in functions:
                found[name] += record.size
    return dict(found)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
