"""Check what exact timing needs: the CPU clock of another process, a fixed memory layout, two cores, and low noise."""

import os
import subprocess
import sys

from grader.diagnosis.finding import Finding
from grader.isolation import sandbox_problems
from harness.errors import MachineError
from harness.machine import programs
from harness.machine.clocks import process_cpu
from harness.machine.environment import usable_cores
from harness.paired import noise
from harness.paired.noise import Noise
from harness.processes import process_env

CLOCK = "another process's CPU clock"
LAYOUT = "fixed memory layout"


def clock() -> Finding:
    """Return a finding that states whether the CPU clock of another process can be read.

    A process is started for this check.
    """
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
    """Return the finding on the CPU clock. `refused` is the reason why the clock cannot be read, or "" if it can."""
    if not refused:
        return Finding(CLOCK, present=True, found=f"can be read on {sys.platform}")
    fix = "grade on Linux"
    if sys.platform == "linux":
        fix = "grade on the host, or in a container that uses the host's kernel (gVisor does not provide this clock)"
    return Finding(CLOCK, present=False, found=refused, fix=fix)


def layout() -> Finding:
    """Return a finding that states whether `setarch -R` can fix the memory layout of a process."""
    return layout_finding(process_env.why_layout_varies())


def layout_finding(trouble: str) -> Finding:
    """Return the finding on memory layouts. `trouble` is the reason why they cannot be fixed, or "" if they can."""
    if not trouble:
        return Finding(LAYOUT, present=True, found="setarch -R")
    if sys.platform != "linux":
        fix = "grade on Linux"
    elif trouble == process_env.NO_SETARCH:
        fix = programs.SETARCH
    elif "not permitted" in trouble:
        fix = f"allow the system call personality; for a container: `{sandbox_problems.DOCKER} …`"
    else:
        fix = f"install it again: `{programs.SETARCH}`"
    return Finding(LAYOUT, present=False, found=f"{trouble}, so ratios of the same code vary by 2 to 6 %", fix=fix)


def cores() -> Finding:
    """Return a finding on the number of cores that this process may use."""
    return cores_finding(usable_cores(), os.cpu_count() or 1)


def cores_finding(usable: int, there: int) -> Finding:
    """Return the finding for a machine with `there` CPU cores, of which this process may use `usable`."""
    found = str(usable) if usable == there else f"{usable} of {there}"
    fix = "grade with --jobs 1, and expect more noise: the measured code shares its core with all other programs"
    if usable < there:
        fix = "start grading without `taskset` (in a container: `docker run --cpuset-cpus=0-1 …`), or with --jobs 1"
    return Finding("cores", usable > 1, found, fix)


def noise_level() -> Finding:
    """Return a finding on the noise of the machine, measured for half a second."""
    return noise_finding(noise.aa_control())


def noise_finding(control: Noise) -> Finding:
    """Return the finding for the noise that was measured by comparing the same code with itself."""
    fix = "close other programs. Grading measures in pairs, so it tolerates more noise than this check"
    return Finding("noise", not control.noisy, str(control), fix)
