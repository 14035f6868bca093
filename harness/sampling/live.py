"""Run a Python program that other programs watch while it runs, such as a training loop without an end."""

import atexit
import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package

from harness.errors import MachineError
from harness.profiles.servers import family
from harness.profiles.stats import ending, write_script

START_S: Final = 400.0  # time limit in seconds for the first printed line of a live program
CPU_S: Final = 300  # the system ends a live program that has used this many seconds of CPU time

_END_S, _POLL_S = 1.0, 0.01

# With Linux's security module Yama, only a parent process may read the memory of a process. `prctl` with
# PR_SET_PTRACER (0x59616d61) and the argument -1 allows it to every process of the same user. With PR_SET_PDEATHSIG
# (1), the system ends the program when the thread that started it ends. `execv` keeps these settings.
_START: Final = f"""
import os, sys
if sys.platform == "linux":
    import ctypes, resource
    resource.setrlimit(resource.RLIMIT_CPU, ({CPU_S}, {CPU_S}))
    prctl = ctypes.CDLL(None).prctl
    prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)
    prctl(1, ctypes.c_ulong(9), 0, 0, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


class LiveProgram:
    """A running Python program whose output goes to a file."""

    def __init__(self, script: str, options: tuple[str, ...]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="fairclock-live-"))
        self.script = self._folder / "program.py"
        write_script(self.script, script)
        self._errors = self.script.with_name("errors.txt")
        self._output = self.script.with_name("output.txt")
        self._seen = 0
        with self._output.open("wb") as output, self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-S", "-c", _START, *options, str(self.script)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                cwd=self._folder,
            )
        self.pid = self._process.pid

    def lines(self) -> list[str]:
        """Return the whole lines that the program has printed since the `with` block began, without the first one."""
        return self._printed()[self._seen + 1 :]

    def rows(self) -> list[list[float]]:
        """Return the numbers in each line of `lines`, which contains only numbers."""
        return [[float(number) for number in line.split()] for line in self.lines()]

    def busy(self) -> float:
        """Return the share of a core that the program used since the `with` block began, at most about 1 per thread."""
        return (self._cpu_s() - self._cpu_before_s) / max(time.monotonic() - self._began_s, 1e-9)

    def wait_for(self, lines: int, *, timeout_s: float = START_S) -> None:
        """Wait until `lines` returns this number of lines. Raise `MachineError` if the program ends or is too slow."""
        deadline_s = time.monotonic() + timeout_s
        while len(self.lines()) < lines:
            if self._process.poll() is not None:
                said = self._errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
                how = said[-1] if said else ending(self._process.returncode)
                raise MachineError(f"The live program ended: {how}.")
            if time.monotonic() > deadline_s:
                raise MachineError(f"The live program printed nothing for {timeout_s:g} s. Run the lesson again.")
            time.sleep(_POLL_S)

    def resume(self) -> None:
        """Let the program run, together with the processes that it has started."""
        self._seen = len(self._printed())
        for process in family(self.pid):
            process.resume()

    def mark(self) -> None:
        """Let `busy` count from now on."""
        self._began_s, self._cpu_before_s = time.monotonic(), self._cpu_s()

    def suspend(self) -> None:
        """Stop the program and the processes that it has started, until `resume`."""
        for process in family(self.pid):
            process.suspend()

    def end(self) -> None:
        """End the program and the processes that it has started, and delete its files."""
        started = family(self.pid)
        for process in started:
            with contextlib.suppress(psutil.Error):
                process.kill()
        self._process.wait()
        psutil.wait_procs(started, timeout=_END_S)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _cpu_s(self) -> float:
        with contextlib.suppress(psutil.Error):
            used = psutil.Process(self.pid).cpu_times()
            return float(used.user + used.system)
        return 0.0

    def _printed(self) -> list[str]:
        whole, _, _ = self._output.read_text(encoding="utf-8", errors="replace").rpartition("\n")
        return whole.splitlines()


_programs: dict[tuple[str, ...], LiveProgram] = {}


@contextlib.contextmanager
def live(script: str, *options: str) -> Iterator[LiveProgram]:
    """Run a script with `python OPTIONS script.py` until the end of the block. The script must print lines regularly.

    The block begins when the script has printed two lines. After it, the program is suspended, and a second block with
    the same script and options resumes it. All live programs end with this process. Raise `MachineError` if it fails.
    """
    key = (script, *options)
    program = _programs.get(key)
    if program is None:
        atexit.unregister(end_all)
        atexit.register(end_all)
        program = _programs[key] = LiveProgram(script, options)
    else:
        program.resume()
    try:
        program.wait_for(1)
        program.mark()
        yield program
    except BaseException:
        _programs.pop(key, program).end()
        raise
    program.suspend()


def end_all() -> None:
    """End all live programs of this process."""
    while _programs:
        _, program = _programs.popitem()
        program.end()
