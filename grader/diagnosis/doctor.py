"""Check all parts of this machine that grading and the lessons need, with advice for each part that does not work.

The parts are those in `grader.diagnosis.machine`, the sandbox, and programs and packages. Importing this module imports
torch, which takes a second.
"""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from grader.diagnosis import machine
from grader.diagnosis.machine import HealthCheck
from grader.isolation import sandbox
from harness import extensions
from harness.machine import programs
from harness.threads import builds

REGISTER: Final = f"{sys.executable} -m ipykernel install --user --name fairclock"
_C: Final = "#include <stdint.h>\n#include <string.h>\nint probe(void) { return 0; }\n"
_CPP: Final = "#include <vector>\nint probe() { return std::vector<int>(1)[0]; }\n"


def for_students() -> Iterator[HealthCheck]:
    """Yield the result for each part of this machine that lessons and `check` need. This takes several seconds."""
    yield torch()
    lacks = sandbox.problem()
    missing = f"missing, because {lacks.found}" if lacks else "the same as when your class is graded"
    fix = "nothing: check works, and before the points it names what it cannot notice" if lacks else ""
    yield HealthCheck("sandbox of check", missing, fix)
    yield from machine.folders()
    yield valgrind()
    yield from compilers()
    yield headers()
    yield cuda()
    yield notebooks()
    yield free_threaded()


def for_a_class() -> Iterator[HealthCheck]:
    """Yield the result for each further part of this machine that the grading of a class needs."""
    yield machine.gil()
    yield from _sandbox()
    yield machine.clock()
    yield machine.layout()
    yield machine.cores()
    yield machine.locks()
    yield machine.noise_level()


def _sandbox() -> Iterator[HealthCheck]:
    if lacks := sandbox.problem():
        yield HealthCheck("sandbox", lacks.found, lacks.fix, needed=True)
        return
    yield HealthCheck("sandbox", sandbox.summary(), needed=True)
    yield from (HealthCheck(f"· {layer.name}", layer.found, layer.fix) for layer in sandbox.layers())


def torch() -> HealthCheck:
    """Check whether torch can be imported, in another process. This takes seconds."""
    found = version("torch")
    if broken := failure_reason(*ran([sys.executable, "-c", "import torch"], timeout_s=300)):
        fix = "pip install --force-reinstall 'torch>=2.9'"
        return HealthCheck("torch", f"{found} cannot be imported ({broken})", fix, needed=True)
    return HealthCheck("torch", found, needed=True)


def valgrind() -> HealthCheck:
    """Check whether valgrind can count the instructions of an empty program. This takes a second."""
    use = "needed to count instructions in lessons 08 and 13"
    path = shutil.which("valgrind")
    if sys.platform != "linux":
        return HealthCheck("valgrind", f"not checked ({use})", "count instructions on Linux")
    if path is None:
        return HealthCheck("valgrind", f"missing ({use})", programs.VALGRIND)
    options = ("--tool=callgrind", "--callgrind-out-file=/dev/null", "--vgdb=no")
    status, said = ran([path, *options, sys.executable, "-I", "-S", "-c", ""])
    if not status:
        return HealthCheck("valgrind", path)
    reason = failure_reason(status, said)
    fix = f"install it again, or a newer version with the debug symbols of the C library: `{programs.VALGRIND}`"
    return HealthCheck("valgrind", f"{path} does not work ({reason})", fix)


def compilers() -> Iterator[HealthCheck]:
    """Check whether gcc compiles the headers of lesson 14's exercise, and g++ a header of the C++ library."""
    yield _compiler("gcc", "cc", ("c", _C), "needed in lesson 14 and its exercise", programs.C_COMPILER)
    yield _compiler("g++", "c++", ("c++", _CPP), "needed in lessons 08, 12 and 14", programs.CPP_COMPILER)


def _compiler(name: str, other: str, source: tuple[str, str], use: str, fix: str) -> HealthCheck:
    path = shutil.which(name) or shutil.which(other)
    if path is None:
        return HealthCheck(name, f"missing ({use})", fix)
    status, said = ran([path, "-x", source[0], "-fsyntax-only", "-"], source[1])
    fatal = next((line for line in said.splitlines() if "error:" in line), said)
    if broken := failure_reason(status, fatal):
        return HealthCheck(name, f"{path} does not compile ({broken})", fix)
    return HealthCheck(name, path)


def headers() -> HealthCheck:
    """Check whether Python.h exists, which C modules and `torch.compile` include."""
    header = Path(extensions.headers(), "Python.h")
    if header.is_file():
        return HealthCheck("Python.h", str(header))
    missing = f"missing: {header} (needed for modules in C in lessons 12 and 14)"
    return HealthCheck("Python.h", missing, programs.PYTHON_HEADERS)


def cuda() -> HealthCheck:
    """Check whether `nvidia-smi`, a program of NVIDIA's driver, is installed."""
    if path := shutil.which("nvidia-smi"):
        return HealthCheck("nvidia-smi", path)
    return HealthCheck("nvidia-smi", "no GPU, so lesson 03 simulates a CUDA stream")


def free_threaded() -> HealthCheck:
    """Check for a build of Python without the GIL, which lesson 18 compares with the usual build."""
    if build := builds.free_threaded():
        return HealthCheck("free-threaded Python", f"{build.path} ({build.name})")
    missing = builds.wrong_variable() or "missing (lesson 18 then shows recorded runs)"
    return HealthCheck("free-threaded Python", missing, builds.install())


def notebooks() -> HealthCheck:
    """Check for JupyterLab in this environment, or for a kernel that another Jupyter starts with this Python."""
    with suppress(PackageNotFoundError):
        return HealthCheck("Jupyter", f"JupyterLab {version('jupyterlab')}, with the kernel python3")
    try:
        found = f"ipykernel {version('ipykernel')}"
        from jupyter_client.kernelspec import KernelSpecManager  # noqa: PLC0415 - it comes with ipykernel
    except (PackageNotFoundError, ImportError):
        return HealthCheck("Jupyter", "missing (needed only for notebooks)", "pip install -e '.[notebook]'")
    specs = KernelSpecManager().get_all_specs()
    names = [name for name, each in specs.items() if each["spec"]["argv"][0] == sys.executable]
    if names:
        return HealthCheck("Jupyter", f"{found}, registered as the kernel {', '.join(names)}")
    return HealthCheck("Jupyter", f"{found}, but no kernel is registered for this Python", REGISTER)


def ran(command: Sequence[str], given: str = "", *, timeout_s: float = 120) -> tuple[int, str]:
    """Run a program with `given` as its input. Return its exit status and its text on standard error."""
    try:
        ended = subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=timeout_s)
    except OSError as error:
        return 126, error.strerror or str(error)
    except subprocess.TimeoutExpired:
        return 124, f"this test takes more than {timeout_s:g} s"
    return ended.returncode, ended.stderr


def failure_reason(status: int, said: str) -> str:
    """Return the signal that ended a process, or the last line of its output `said`. Return "" if it did not fail."""
    if status < 0:
        cpu = ": this CPU lacks instructions that it needs" if -status == signal.SIGILL else ""
        return f"ended by {signal.Signals(-status).name}{cpu}"
    lines = said.strip().splitlines() or [f"exit status {status}"]
    return lines[-1][:200] if status else ""
