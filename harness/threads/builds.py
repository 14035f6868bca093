"""Find builds of Python on this machine: a free-threaded build, and the usual build."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from harness.machine import programs

VARIABLE: Final = "FAIRCLOCK_FREE_THREADED"  # names an interpreter that is not on the search path

_USUAL: Final = ("python3.15", "python3.14", "python3.13")
_FREE: Final = tuple(f"{name}{end}" for name in _USUAL for end in ("t", "-nogil"))  # of python.org, and of deadsnakes
_TIMEOUT_S: Final = 30

_QUESTION: Final = """
import json, sys
print(json.dumps({
    "version": ".".join(map(str, sys.version_info[:3])),
    "gil": getattr(sys, "_is_gil_enabled", lambda: True)(),
}))
"""


@dataclass(frozen=True, slots=True)
class PythonBuild:
    """An interpreter of Python. `gil` is whether it runs with the GIL."""

    path: str
    version: str
    gil: bool

    @property
    def name(self) -> str:
        """The version of Python, with a "t" if the build is free-threaded, such as "Python 3.14.2t"."""
        return f"Python {self.version}{'' if self.gil else 't'}"

    @property
    def command(self) -> tuple[str, ...]:
        """The command that starts the interpreter, without the user's settings and additional packages."""
        return (self.path, "-I", "-S")


@cache
def build_of(path: str) -> PythonBuild | None:
    """Return the build of an interpreter, or None if the file does not run as Python."""
    try:
        command, nothing = [path, "-I", "-S", "-c", _QUESTION], subprocess.DEVNULL
        said = subprocess.check_output(command, stdin=nothing, stderr=nothing, text=True, timeout=_TIMEOUT_S)
        return PythonBuild(path, **json.loads(said))
    except (OSError, subprocess.SubprocessError, ValueError, TypeError):
        return None


def usual() -> PythonBuild | None:
    """Return a build with the GIL: the running interpreter, or else the first `python3` with the GIL on the path."""
    return _first(sys.executable, *_on_path("python3", *_USUAL), gil=True)


def free_threaded() -> PythonBuild | None:
    """Return a build without the GIL, or None: that of `VARIABLE`, the running one, or one such as `python3.14t`."""
    named = os.environ.get(VARIABLE)
    return _first(*([named] if named else [sys.executable, *_on_path(*_FREE)]), gil=False)


def install() -> str:
    """Return the command that installs a free-threaded build beside the usual one."""
    return "dnf install python3.14-freethreading" if programs.manager() == "dnf" else "uv python install 3.14t"


def wrong_variable() -> str:
    """Return what is wrong with the interpreter that `FAIRCLOCK_FREE_THREADED` names, or ""."""
    named = os.environ.get(VARIABLE)
    if not named or free_threaded():
        return ""
    found = build_of(named)
    return f"{VARIABLE}={named} " + (f"is {found.name}, which runs with the GIL" if found else "does not run as Python")


def lacking_free_threaded() -> str:
    """Return "" if there is a free-threaded build, or else what is missing, and how to get it."""
    if wrong := wrong_variable():
        return f"{wrong}. Set it to a free-threaded Python"
    needed = f"needs a free-threaded Python: {install()}. If it is not on the search path, set {VARIABLE} to its file"
    return "" if free_threaded() else needed


def _first(*paths: str, gil: bool) -> PythonBuild | None:
    return next((build for build in map(build_of, paths) if build and build.gil is gil), None)


def _on_path(*names: str) -> tuple[str, ...]:
    searched = os.pathsep.join((os.environ.get("PATH", os.defpath), str(Path.home() / ".local" / "bin")))
    return tuple(path for name in names if (path := shutil.which(name, path=searched)))
