"""Check the programs that counting needs, and name everything outside the counted code that changes a count."""

import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import torch

from harness.machine import programs

HASH_SEED: Final = "0"
"""The fixed hash seed of counted processes. Dictionary lookups with random hashes would change every count."""

# Environment variables that change the machine code that libraries run, and with it the number of instructions.
_CHOOSING: Final = ("ATEN_CPU_CAPABILITY", "LD_PRELOAD", "GLIBC_TUNABLES", "MALLOC_ARENA_MAX")


def lacking(*, compiler: bool = False) -> str:
    """Return a text that names what this machine lacks for counting, with the command that installs it, or "".

    With `compiler=True`, a C++ compiler is needed too.
    """
    if platform.system() != "Linux":
        return "valgrind counts only on Linux"
    commands = ("valgrind", "callgrind_annotate", "callgrind_control")
    missing = programs.lacking("valgrind", programs.VALGRIND, *commands)
    return missing or (lacking_compiler() if compiler else "")


def lacking_compiler() -> str:
    """Return "" if there is a C++ compiler. Otherwise return a text with the command that installs one."""
    return programs.lacking("a C++ compiler", programs.CPP_COMPILER, os.environ.get("CXX", "c++"))


def environment(shims: Path | None = None, base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment variables of a counted process: a fixed hash seed, and this interpreter first on PATH.

    `collect_callgrind` starts the first `python` on PATH. Only the folder `shims` comes before it. The process finds no
    GPU, whose clock in torch's Timer works neither in a forked process nor for C++ statements.
    """
    folders = [str(shims)] if shims else []
    path = os.pathsep.join([*folders, str(Path(sys.executable).parent), base.get("PATH", os.defpath)])
    kept = {name: value for name, value in base.items() if name not in {"VALGRIND_OPTS", "PYTHONHOME"}}
    return {**kept, "PATH": path, "PYTHONHASHSEED": HASH_SEED, "CUDA_VISIBLE_DEVICES": ""}


def software(*, compiles: bool) -> dict[str, object]:
    """Return what changes a count or compiled code: libraries, interpreter, compiler, processor, and settings."""
    return {
        "torch": [torch.__version__, torch.version.git_version, torch.__config__.show()],
        "python": [sys.version, os.path.realpath(sys.executable)],
        "system": [platform.libc_ver(), platform.machine(), processor(), compiler_version("valgrind")],
        "compiler": compiler_version(os.environ.get("CXX", "c++")) if compiles else "",
        "chosen": {name: os.environ.get(name) for name in _CHOOSING},
    }


@cache
def compiler_version(command: str) -> str:
    """Return the first line of the output of `COMMAND --version`, or "" if this program is missing."""
    try:
        printed = subprocess.run([command, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
    return printed.partition("\n")[0]


@cache
def processor() -> str:
    """Return the features of this processor, by which libraries choose their machine code, or "" if unknown."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((" ".join(sorted(line.split())) for line in lines if line.startswith(("flags", "Features"))), "")
