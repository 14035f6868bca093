"""Check Python and the machine: clocks, memory layout, cores, noise, and the folders to which fairclock writes."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.isolation import sandbox_problems
from harness.errors import MachineError
from harness.machine import lanes, programs
from harness.machine.clocks import process_cpu
from harness.machine.environment import Environment, usable_cores
from harness.paired import noise
from harness.processes import process_env
from harness.storage import disk_cache, user_files

ENOUGH_BYTES: Final = 1 << 30
"""The free disk space that a folder should have. Grading a class used less than 300 MiB."""


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """The result of checking one part of the machine.

    `found` describes the part, and `fix` is advice if it does not work, or else "". The grader refuses to grade unless
    every `needed` part works.
    """

    part: str
    found: str
    fix: str = ""
    needed: bool = False

    @property
    def works(self) -> bool:
        """Whether the part works."""
        return not self.fix


def gil() -> HealthCheck:
    """Check whether this is the usual build of Python, with a global interpreter lock (GIL)."""
    if caution := Environment.capture(ask_cuda=False).caution():
        return HealthCheck("GIL", caution, "grade with the usual build of Python, because the tiers were chosen on it")
    return HealthCheck("GIL", "on: the usual build of Python")


def clock() -> HealthCheck:
    """Check whether the CPU clock of another process, which is started for this check, can be read."""
    part = "another process's CPU clock"
    program = [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(program, stdin=subprocess.PIPE) as other:
        try:
            process_cpu(other.pid)
        except MachineError as error:
            fix = (
                "grade on the host, or in a container that uses the host's kernel (gVisor does not provide this clock)"
            )
            return HealthCheck(part, str(error), fix if sys.platform == "linux" else "grade on Linux")
        finally:
            other.communicate()
    return HealthCheck(part, f"can be read on {sys.platform}")


def layout() -> HealthCheck:
    """Check whether `setarch -R` can fix the memory layout of a process."""
    part, trouble = "fixed memory layout", process_env.why_layout_varies()
    if not trouble:
        return HealthCheck(part, "setarch -R")
    fix = programs.SETARCH if sys.platform == "linux" else "grade on Linux"
    if "not permitted" in trouble:
        fix = f"allow the system call personality; for a container: `{sandbox_problems.DOCKER} …`"
    return HealthCheck(part, f"{trouble}, so ratios of the same code vary by 2 to 6 %", fix)


def cores() -> HealthCheck:
    """Check the number of cores that this process may use."""
    usable, there = usable_cores(), os.cpu_count() or 1
    fix = "grade with --jobs 1, and expect more noise: the measured code shares its core with all other programs"
    if usable < there:
        fix = "start grading without `taskset` (in a container: `docker run --cpuset-cpus=0-1 …`), or with --jobs 1"
    return HealthCheck("cores", str(usable) if usable == there else f"{usable} of {there}", "" if usable > 1 else fix)


def noise_level() -> HealthCheck:
    """Measure the noise for half a second, by comparing the same code with itself."""
    control = noise.aa_control()
    fix = "close other programs. Grading measures in pairs, so it tolerates more noise than this check"
    return HealthCheck("noise", str(control), fix if control.noisy else "")


def folders() -> Iterator[HealthCheck]:
    """Check each folder to which fairclock writes. It must be possible to run compiled code from the cache."""
    for part, folder, variable, runs in (
        ("temporary files", Path(tempfile.gettempdir()), "TMPDIR", True),
        ("compiled code", disk_cache.folder(), disk_cache.FOLDER_VARIABLE, True),
        ("progress", user_files.state_folder(), user_files.FOLDER_VARIABLE, False),
    ):
        trouble, fix = _trouble(folder, runs=runs), f"set {variable} to another folder: `export {variable}=FOLDER`"
        yield HealthCheck(part, trouble or str(folder), fix if trouble else "")


def locks() -> HealthCheck:
    """Check whether this user can lock CPU cores, so that no measurements share a core."""
    part, folder = "locks on cores", lanes.directory()
    try:
        held = "" if lanes.free_cores() else " (other measurements hold all locks now)"
    except MachineError as error:
        return HealthCheck(part, str(error), locks_fix(folder), needed=True)
    return HealthCheck(part, f"{folder}{held}", needed=True)


def locks_fix(folder: Path) -> str:
    """Return advice that lets every user of this machine lock CPU cores: a command if possible."""
    if sys.platform == "win32":
        return "grade on Linux, or in WSL 2"
    if not folder.is_dir():
        return f"choose a folder that all users may write to: `export {lanes.DIRECTORY_VARIABLE}=FOLDER`"
    return f"`sudo chmod 1777 {folder} && sudo chmod -f a+r {folder}/*.lock`"


def _trouble(folder: Path, *, runs: bool) -> str:
    if _is_closed(folder):
        return f"this user cannot write to {folder}"
    there = _existing(folder)
    if runs and (mount := sandbox_problems.noexec(there)):
        return f"{folder} is on {mount}, which is mounted with noexec, so compiled code in it cannot run"
    free = shutil.disk_usage(there).free
    if free < ENOUGH_BYTES:
        return f"{folder} has {free >> 20} MiB of free space; grading may need {ENOUGH_BYTES >> 20} MiB"
    return ""


def _is_closed(folder: Path) -> bool:
    there = _existing(folder)
    if there != folder:
        return not (there.is_dir() and os.access(there, os.W_OK | os.X_OK))
    try:
        with tempfile.TemporaryFile(dir=there):
            return False
    except OSError:
        return True


def _existing(folder: Path) -> Path:
    return next(above for above in [folder, *folder.absolute().parents] if above.exists())
