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
            fix = "grade on Linux"
            if sys.platform == "linux":
                fix = "grade on the host, or in a container that uses the host's kernel"
                fix += " (gVisor does not provide this clock)"
            return Finding(CLOCK, present=False, found=str(error), fix=fix)
        finally:
            other.communicate()
    return Finding(CLOCK, present=True, found=f"can be read on {sys.platform}")


def layout() -> Finding:
    """Return a finding that states whether `setarch -R` can fix the memory layout of a process."""
    trouble = process_env.why_layout_varies()
    if not trouble:
        return Finding(LAYOUT, present=True, found="setarch -R")
    fix = f"install it again: `{programs.SETARCH}`"
    if sys.platform != "linux":
        fix = "grade on Linux"
    elif trouble == process_env.NO_SETARCH:
        fix = programs.SETARCH
    elif "not permitted" in trouble:
        fix = f"allow the system call personality; for a container: `{sandbox_problems.DOCKER} …`"
    return Finding(LAYOUT, present=False, found=f"{trouble}, so ratios of the same code vary by 2 to 6 %", fix=fix)


def cores() -> Finding:
    """Return a finding on the number of cores that this process may use."""
    usable, there = usable_cores(), os.cpu_count() or 1
    found = str(usable) if usable == there else f"{usable} of {there}"
    fix = "grade with --jobs 1, and expect more noise: the measured code shares its core with all other programs"
    if usable < there:
        fix = "start grading without `taskset` (in a container: `docker run --cpuset-cpus=0-1 …`), or with --jobs 1"
    return Finding("cores", usable > 1, found, fix)


def noise_level() -> Finding:
    """Return a finding on the noise, measured for half a second by comparing the same code with itself."""
    control = noise.aa_control()
    fix = "close other programs. Grading measures in pairs, so it tolerates more noise than this check"
    return Finding("noise", not control.noisy, str(control), fix)
