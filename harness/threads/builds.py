"""Find builds of Python on this machine: a free-threaded build, the usual build, and one with sub-interpreters.

The environment variable `FAIRCLOCK_FREE_THREADED` names a free-threaded interpreter that is not on the search path.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from harness.machine import programs

VARIABLE: Final = "FAIRCLOCK_FREE_THREADED"

VERSIONS: Final = ("3.15", "3.14", "3.13")
"""The versions of Python that a search for a free-threaded build tries, the newest first."""

NAMES: Final = tuple(f"python{version}{end}" for version in VERSIONS for end in ("t", "-nogil"))
"""The names of free-threaded interpreters: those of python.org, uv and Fedora, and those of Ubuntu's deadsnakes."""

_INSTALL: Final = {"dnf": "python3.14-freethreading"}
"""The packages with a free-threaded build, by the name of the package manager."""

_TIMEOUT_S: Final = 30

_QUESTION: Final = """
import importlib.util, json, sys
names = ("concurrent.interpreters", "_interpreters")
def there(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False
print(json.dumps({
    "version": ".".join(map(str, sys.version_info[:3])),
    "gil": getattr(sys, "_is_gil_enabled", lambda: True)(),
    "interpreters": next(filter(there, names), ""),
}))
"""


@dataclass(frozen=True, slots=True)
class PythonBuild:
    """An interpreter of Python. `gil` is whether it runs with the GIL.

    `interpreters` is the name of its module for sub-interpreters, or "" if it has none.
    """

    path: str
    version: str
    gil: bool
    interpreters: str = ""

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
        ended = subprocess.run(
            [path, "-I", "-S", "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=True,
        )
        found = json.loads(ended.stdout)
        return PythonBuild(path, str(found["version"]), bool(found["gil"]), str(found["interpreters"]))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return None


def usual() -> PythonBuild | None:
    """Return a build with the GIL: the running interpreter, or else the first `python3` with the GIL on the path."""
    return _first((sys.executable, *_on_path(("python3", *(f"python{version}" for version in VERSIONS)))), gil=True)


def free_threaded() -> PythonBuild | None:
    """Return a build that runs without the GIL, or None.

    `FAIRCLOCK_FREE_THREADED` has priority, then the running interpreter, and then the names of `NAMES`.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return _first((named,), gil=False)
    return _first((sys.executable, *_on_path(NAMES)), gil=False)


def with_interpreters() -> PythonBuild | None:
    """Return a build with the GIL and a module for sub-interpreters (Python 3.13 or newer), or None."""
    names = (f"python{version}" for version in VERSIONS)
    paths = (sys.executable, *_on_path(names))
    return next((build for build in map(build_of, paths) if build and build.gil and build.interpreters), None)


def install() -> str:
    """Return the command that installs a free-threaded build beside the usual one."""
    package = _INSTALL.get(programs.manager())
    return f"{programs.manager()} install {package}" if package else "uv python install 3.14t"


def wrong_variable() -> str:
    """Return what is wrong with the interpreter that `FAIRCLOCK_FREE_THREADED` names, or ""."""
    named = os.environ.get(VARIABLE)
    found = build_of(named) if named else None
    if not named or (found and not found.gil):
        return ""
    trouble = "does not run as Python" if found is None else f"is {found.name}, which runs with the GIL"
    return f"{VARIABLE}={named} {trouble}"


def lacking_free_threaded() -> str:
    """Return "" if there is a free-threaded build, or else what is missing, and how to get it."""
    if free_threaded() is not None:
        return ""
    if wrong := wrong_variable():
        return f"{wrong}. Set it to a free-threaded Python"
    return f"needs a free-threaded Python: {install()}. If it is not on the search path, set {VARIABLE} to its file"


def lacking_interpreters() -> str:
    """Return "" if there is a build with sub-interpreters, or else what is missing, and how to get it."""
    return "" if with_interpreters() else "needs Python 3.13 or newer with the GIL: uv python install 3.14"


def _first(paths: tuple[str, ...], *, gil: bool) -> PythonBuild | None:
    return next((build for build in map(build_of, paths) if build and build.gil is gil), None)


def _on_path(names: Iterable[str]) -> tuple[str, ...]:
    searched = os.pathsep.join((os.environ.get("PATH", os.defpath), str(Path.home() / ".local" / "bin")))
    found = (shutil.which(name, path=searched) for name in names)
    return tuple(path for path in found if path)
