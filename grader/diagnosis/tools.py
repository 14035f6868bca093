"""Check whether valgrind, the compilers, Python's headers and NVIDIA's driver are installed and work."""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from grader.diagnosis.finding import Finding
from grader.diagnosis.packages import failure_reason
from harness import extensions
from harness.callgrind import tools
from harness.machine import programs
from harness.threads import builds

_SYMBOLS_MISSING: Final = re.compile(r"redirection.*mandatory|mandatory.*redirection|libc6-dbg|debuginfo", re.DOTALL)
_UNKNOWN_INSTRUCTION: Final = re.compile(r"[Uu]nrecognised instruction|unhandled instruction|SIGILL")
_SYMBOLS: Final = {
    "dnf": "dnf debuginfo-install glibc",
    "pacman": "export DEBUGINFOD_URLS=https://debuginfod.archlinux.org",
    "zypper": "zypper install glibc-debuginfo",
}
_C: Final = "#include <stdint.h>\n#include <string.h>\nint probe(void) { return 0; }\n"
_CPP: Final = "#include <vector>\nint probe() { return std::vector<int>(1)[0]; }\n"


def valgrind() -> Finding:
    """Return a finding that states whether valgrind can count the instructions of an empty program (takes a second)."""
    path, status, said = shutil.which("valgrind"), 0, ""
    if path and sys.platform == "linux":
        program = [sys.executable, "-I", "-S", "-c", ""]
        status, said = _ran([path, "--tool=callgrind", "--callgrind-out-file=/dev/null", "--vgdb=no", *program])
    return valgrind_finding(path, status, said)


def valgrind_finding(path: str | None, status: int, said: str) -> Finding:
    """Return the finding on valgrind from its path, its exit status and its text on standard error."""
    use = "needed to count instructions in lessons 08 and 13"
    if sys.platform != "linux":
        return Finding("valgrind", present=False, found=f"not checked ({use})", fix="count instructions on Linux")
    if path is None:
        return Finding("valgrind", present=False, found=f"missing ({use})", fix=programs.VALGRIND)
    if not status:
        return Finding("valgrind", present=True, found=path)
    name = tools.version() or "valgrind"
    found, fix = f"{path} does not work ({failure_reason(status, said)})", f"install it again: `{programs.VALGRIND}`"
    if _UNKNOWN_INSTRUCTION.search(said) or status == -4:
        found = f"{name} does not know an instruction of this CPU"
        fix = f"install a newer version than {name}, or count instructions on another machine"
    elif _SYMBOLS_MISSING.search(said):
        found = f"{name} finds no debug symbols of the C library"
        fix = _SYMBOLS.get(programs.manager(), programs.install("libc debug symbols"))
    return Finding("valgrind", present=False, found=found, fix=fix)


def c_compiler() -> Finding:
    """Return a finding that states whether gcc compiles a file with the headers that lesson 14's exercise includes."""
    return _compiler("gcc", "cc", ("c", _C), "needed in lesson 14 and its exercise", programs.C_COMPILER)


def cpp_compiler() -> Finding:
    """Return a finding that states whether g++ compiles a file with a header of the C++ library."""
    return _compiler("g++", "c++", ("c++", _CPP), "needed in lessons 08, 12 and 14", programs.CPP_COMPILER)


def _compiler(name: str, other: str, source: tuple[str, str], use: str, fix: str) -> Finding:
    path = shutil.which(name) or shutil.which(other)
    if path is None:
        return Finding(name, present=False, found=f"missing ({use})", fix=fix)
    status, said = _ran([path, "-x", source[0], "-fsyntax-only", "-"], source[1])
    fatal = next((line for line in said.splitlines() if "error:" in line), said)
    if broken := failure_reason(status, fatal):
        return Finding(name, present=False, found=f"{path} does not compile ({broken})", fix=fix)
    return Finding(name, present=True, found=path)


def headers(folder: Path | None = None) -> Finding:
    """Return a finding that states whether Python.h exists, which C modules and `torch.compile` include."""
    header = Path(folder or extensions.headers(), "Python.h")
    found = str(header) if header.is_file() else f"missing: {header} (needed for modules in C in lessons 12 and 14)"
    return Finding("Python.h", present=header.is_file(), found=found, fix=programs.PYTHON_HEADERS)


def cuda() -> Finding:
    """Return a finding that states whether `nvidia-smi`, a program of NVIDIA's driver, is installed."""
    path = shutil.which("nvidia-smi")
    found = path or "missing: no GPU (lesson 03 uses a GPU with CUDA)"
    return Finding("nvidia-smi", path is not None, found, "nothing: without a GPU, lesson 03 simulates a CUDA stream")


def free_threaded() -> Finding:
    """Return a finding that names a build of Python without the GIL, which lesson 18 compares with the usual build."""
    build = builds.free_threaded()
    if build is not None:
        return Finding("free-threaded Python", present=True, found=f"{build.path} ({build.name})")
    found = "missing (lesson 18 then shows recorded runs)"
    return Finding("free-threaded Python", present=False, found=builds.wrong_variable() or found, fix=builds.install())


def _ran(command: Sequence[str], given: str = "") -> tuple[int, str]:
    try:
        ended = subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=120)
    except OSError as error:
        return 126, error.strerror or str(error)
    except subprocess.TimeoutExpired:
        return 124, "this test takes more than 120 s"
    return ended.returncode, ended.stderr
