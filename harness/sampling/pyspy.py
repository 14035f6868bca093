"""Run the sampling profiler py-spy on a live process, and read what it recorded."""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

from harness.errors import MachineError
from harness.sampling.live import live
from harness.sampling.samples import Sample, Samples

INSTALL: Final = "python -m pip install 'fairclock[profilers]'"

_START_S: Final = 30.0
_WRITE_S: Final = 30.0
_BEGUN: Final = "Sampling process"

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
    try:
        done = subprocess.run(
            [_found(), "dump", "--pid", str(pid), *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=_START_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise MachineError(f"py-spy dump took longer than {_START_S:g} s. Run the lesson again.") from None
    if done.returncode:
        raise _failed(done.stderr)
    return done.stdout


def record(pid: int, seconds: float, *options: str, rate: int = 100) -> Samples:
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
        said = _for_seconds(process, seconds)
        if process.returncode or not file.exists():
            raise _failed(said)
        return read_speedscope(json.loads(file.read_text(encoding="utf-8")))


def read_speedscope(profile: dict[str, Any]) -> Samples:
    """Return the samples of a profile in speedscope's format, by thread and in the order in which they were taken."""
    frames = [(str(each["name"]), str(each["file"] or "")) for each in profile["shared"]["frames"]]
    samples = [
        Sample(str(thread["name"]), tuple(frames[number] for number in stack))
        for thread in profile["profiles"]
        for stack in thread["samples"]
    ]
    return Samples(tuple(samples))


def _for_seconds(process: "subprocess.Popen[str]", seconds: float) -> str:
    """Interrupt py-spy some seconds after it has begun, as Ctrl-C does. Return what it printed."""
    assert process.stdout is not None
    limit = threading.Timer(_START_S + seconds + _WRITE_S, process.kill)
    limit.start()
    try:
        said = _until(_BEGUN, process.stdout)
        if _BEGUN in said:
            time.sleep(seconds)
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)
        rest, _ = process.communicate()
    finally:
        limit.cancel()
        process.kill()
        process.wait()
    return said + rest


def _until(words: str, lines: Iterable[str]) -> str:
    said = ""
    for line in lines:
        said += line
        if words in line:
            break
    return said


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
