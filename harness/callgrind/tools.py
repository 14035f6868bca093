"""The programs that counting takes, what is missing of them here, and the surroundings that make counts repeatable."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from harness import programs

HASH_SEED: Final = "0"
"""Python's hashes decide how often a dictionary is searched in vain: left to chance, they move every count."""


def lacking(*, compiler: bool = False) -> str:
    """What this machine lacks for counting (and, if asked, for compiling), with what brings it; "" when nothing."""
    if platform.system() != "Linux":
        return "valgrind counts on Linux alone"
    commands = ("valgrind", "callgrind_annotate", "callgrind_control")
    missing = programs.lacking("valgrind", programs.VALGRIND, *commands)
    return missing or (lacking_compiler() if compiler else "")


def lacking_compiler() -> str:
    """What this machine lacks for compiling, with what brings it; "" when nothing."""
    return programs.lacking("a C++ compiler", programs.CPP_COMPILER, os.environ.get("CXX", "c++"))


def surroundings(shims: Path | None = None, base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment for a counted process: fixed hashes, and this very interpreter for whoever calls `python`.

    `collect_callgrind` starts whatever `python` is first on PATH. `shims` is a folder that comes before even that.
    """
    folders = [str(shims)] if shims else []
    path = os.pathsep.join([*folders, str(Path(sys.executable).parent), base.get("PATH", os.defpath)])
    kept = {name: value for name, value in base.items() if name not in {"VALGRIND_OPTS", "PYTHONHOME"}}
    return {**kept, "PATH": path, "PYTHONHASHSEED": HASH_SEED}


@cache
def version() -> str:
    """What `valgrind --version` says; "" where there is none."""
    found = shutil.which("valgrind")
    if found is None:
        return ""
    return subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout.strip()


@cache
def compiler_version(command: str) -> str:
    """What a compiler calls itself; "" where there is none."""
    try:
        said = subprocess.run([command, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
    return said.partition("\n")[0]


@cache
def processor() -> str:
    """The features of this processor, which choose the code that libraries run; "" where they are not told."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((" ".join(sorted(line.split())) for line in lines if line.startswith(("flags", "Features"))), "")
