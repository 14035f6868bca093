"""Run the sampling profiler py-spy on a live process, and read what it recorded."""

import json
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import Final

from harness.errors import MachineError
from harness.sampling.live import live

INSTALL: Final = "python -m pip install 'fairclock[profilers]'"

Function = tuple[str, str]
"""A function in a sample: its name, and the file of its code. The file of a C function is a library, or ""."""


@dataclass(frozen=True, slots=True)
class StackSample:
    """One sample of one thread. In its stack, the outermost function comes first."""

    thread: str
    stack: tuple[Function, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the functions in the stack, the outermost first."""
        return tuple(name for name, _ in self.stack)


@dataclass(frozen=True, slots=True)
class StackSamples:
    """All samples of one recording."""

    taken: tuple[StackSample, ...]

    def __len__(self) -> int:
        return len(self.taken)

    def with_function(self, name: str) -> int:
        """Return the number of samples whose stack contains the function `name`."""
        return sum(name in sample.names for sample in self.taken)

    def share(self, name: str) -> float:
        """Return the share of the samples whose stack contains the function `name`, or 0 without samples."""
        return self.with_function(name) / max(1, len(self))

    def only(self, wanted: Callable[[StackSample], bool]) -> "StackSamples":
        """Return the samples for which `wanted` is true."""
        return StackSamples(tuple(filter(wanted, self.taken)))

    def stacks(self) -> list[tuple[tuple[str, ...], float]]:
        """Return each different stack with its number of samples. A frame is "file: function", as in a flame graph."""
        counts = Counter(sample.stack for sample in self.taken)
        return [
            (tuple(f"{PurePath(file).name}: {name}" if file else name for name, file in stack), float(count))
            for stack, count in counts.items()
        ]


_START_S, _WRITE_S = 30.0, 30.0

_TRIAL: Final = """
import time
while True:
    print("alive", flush=True)
    time.sleep(0.05)
"""


def program() -> str | None:
    """Return the path of py-spy: beside this Python, or else on the PATH. Return None if py-spy is not installed."""
    return shutil.which("py-spy", path=sysconfig.get_path("scripts")) or shutil.which("py-spy")


@cache
def lacking() -> str:
    """Return why py-spy cannot watch a process on this machine, with the command that helps, or "" if it can."""
    if program() is None:
        return f"needs py-spy. Run: {INSTALL}"
    if sys.platform == "win32":
        return "needs a system that can interrupt py-spy. Use Linux"
    try:
        with live(_TRIAL) as trial:
            dump(trial.pid)
    except MachineError as error:
        return f"needs py-spy with access to other processes. {error}"
    return ""


def dump(pid: int, *options: str) -> str:
    """Return the output of `py-spy dump --pid PID OPTIONS`: the stack of each thread, with the innermost frame first.

    Raise `MachineError` if py-spy fails.
    """
    command = [_found(), "dump", "--pid", str(pid), *options]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=_START_S, check=False)
    except subprocess.TimeoutExpired:
        raise MachineError(f"py-spy dump took longer than {_START_S:g} s. Run the lesson again.") from None
    if done.returncode:
        raise _failed(done.stderr)
    return done.stdout


def record(pid: int, seconds: float, *options: str, rate: int = 100) -> StackSamples:
    """Return the samples that `py-spy record --pid PID --rate RATE OPTIONS` takes in `seconds`.

    The seconds begin when py-spy is ready. Raise `MachineError` if py-spy fails.
    """
    with tempfile.TemporaryDirectory(prefix="fairclock-py-spy-") as folder:
        file = Path(folder) / "profile.json"
        chosen = ["--rate", str(rate), "--format", "speedscope", "--output", str(file), "--full-filenames"]
        process = subprocess.Popen(
            [_found(), "record", "--pid", str(pid), *chosen, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        limit = threading.Timer(_START_S + seconds + _WRITE_S, process.kill)
        limit.start()
        said = ""
        assert process.stdout is not None
        with process:
            try:
                for line in process.stdout:
                    said += line
                    if "Sampling process" in line:
                        time.sleep(seconds)
                        process.send_signal(signal.SIGINT)
                process.wait()
            finally:
                limit.cancel()
                process.kill()
        if process.returncode or not file.exists():
            raise _failed(said)
        return read_speedscope(file.read_bytes())


def read_speedscope(data: bytes) -> StackSamples:
    """Return the samples of a profile in speedscope's format, by thread and in the order in which they were taken.

    Raise `MachineError` if the profile is damaged, or has no samples as those of py-spy.
    """
    try:
        profile = json.loads(data)
        frames = [(str(each["name"]), str(each.get("file") or "")) for each in profile["shared"]["frames"]]
        samples = [
            StackSample(str(thread["name"]), tuple(frames[number] for number in stack))
            for thread in profile["profiles"]
            for stack in thread["samples"]
        ]
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise MachineError("The profile is damaged, or py-spy did not write it. Record it again.") from None
    return StackSamples(tuple(samples))


def _found() -> str:
    path = program()
    if path is None:
        raise MachineError(f"py-spy is not installed. Run: {INSTALL}")
    return path


def _failed(said: str) -> MachineError:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    words = lines[0] if lines else "it gave no reason"
    help_ = "Run the command as root, or set /proc/sys/kernel/yama/ptrace_scope to 0"
    return MachineError(f"py-spy failed: {words}. {help_}." if "ermission" in said else f"py-spy failed: {words}.")
