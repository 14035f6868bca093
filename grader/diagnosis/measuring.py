"""What timing needs of a machine: the CPU clock of another process, equal memory layouts, cores, and quiet."""

import os
import subprocess
import sys

from grader.diagnosis.finding import Finding
from grader.isolation import obstacles
from harness import noise, programs, twins
from harness.clocks import process_cpu
from harness.environment import usable_cores
from harness.errors import MachineError
from harness.noise import Noise

CLOCK = "another process's CPU clock"
LAYOUT = "fixed memory layout"


def clock() -> Finding:
    """Read the CPU clock of a process that was started for it."""
    program = [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(program, stdin=subprocess.PIPE) as other:
        try:
            process_cpu(other.pid)
        except MachineError as error:
            return clock_finding(str(error))
        finally:
            other.communicate()
    return clock_finding("")


def clock_finding(refused: str) -> Finding:
    """Return what follows from why the clock cannot be read ("" when it can)."""
    if not refused:
        return Finding(CLOCK, present=True, found=f"{sys.platform}, read from outside")
    fix = "grade on Linux"
    if sys.platform == "linux":
        fix = "grade on the host, or in a container that the host's own kernel runs (gVisor has no such clock)"
    return Finding(CLOCK, present=False, found=refused, fix=fix)


def layout() -> Finding:
    """Look whether `setarch -R` works."""
    return layout_finding(twins.layout_trouble())


def layout_finding(trouble: str) -> Finding:
    """Return what follows from why a process has no fixed layout ("" when it has one)."""
    if not trouble:
        return Finding(LAYOUT, present=True, found="setarch -R")
    if sys.platform != "linux":
        fix = "grade on Linux"
    elif trouble == twins.NO_SETARCH:
        fix = programs.SETARCH
    elif "not permitted" in trouble:
        fix = f"allow the system call personality; for a container: `{obstacles.DOCKER} …`"
    else:
        fix = f"install it again: `{programs.SETARCH}`"
    return Finding(LAYOUT, present=False, found=f"{trouble}, so ratios scatter by 2 to 6 %", fix=fix)


def cores() -> Finding:
    """Count the cores that this process may use."""
    return cores_finding(usable_cores(), os.cpu_count() or 1)


def cores_finding(usable: int, there: int) -> Finding:
    """Return what follows from how many cores this process may use, of how many."""
    found = str(usable) if usable == there else f"{usable} of {there}"
    fix = "grade with --jobs 1, and expect more noise: the measurement shares its core with every other program"
    if usable < there:
        fix = "start it without `taskset` (a container: with `docker run --cpuset-cpus=0-1 …`), or grade with --jobs 1"
    return Finding("cores", usable > 1, found, fix)


def quiet() -> Finding:
    """Measure the noise, half a second long."""
    return quiet_finding(noise.aa_control())


def quiet_finding(control: Noise) -> Finding:
    """Return what follows from an A/A control."""
    fix = "close other programs; grades need less quiet than this, since they come from pairs of measurements"
    return Finding("noise", not control.restless, str(control), fix)
