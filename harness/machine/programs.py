"""Programs that some measurements need: check whether they are missing, and name the commands that install them."""

import os
import shutil
import sys
from collections.abc import Mapping
from typing import Final

_INSTALL: Final = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "pacman": "pacman -S",
    "zypper": "zypper install",
    "brew": "brew install",
}

MANAGERS: Final = tuple(_INSTALL)
"""Package managers. The first one that is installed is used."""

# Debian's package `python3-dev` has only the headers of Debian's default version of Python.
_HEADERS: Final = f"python{sys.version_info.major}.{sys.version_info.minor}-dev"

PACKAGES: Final[Mapping[str, Mapping[str, str]]] = {
    "valgrind": {"brew": ""},
    "C compiler": {"apt-get": "gcc libc6-dev", "": "gcc"},
    "C++ compiler": {"apt-get": "g++", "dnf": "gcc-c++", "zypper": "gcc-c++", "": "gcc"},
    "Python headers": {"apt-get": _HEADERS, "pacman": "python", "brew": "python", "": "python3-devel"},
    "util-linux": {},
    "bubblewrap": {"brew": ""},
    "chromium": {"brew": ""},
    "libc debug symbols": {"apt-get": "libc6-dbg", "": "glibc-debuginfo", "pacman": "", "brew": ""},
}
"""For each program, the name of its package in each package manager. The key "" is for all other managers. Without this
key, the package has the program's name. An empty name means that the manager has no package with this program."""


def manager() -> str:
    """Return the package manager of this machine, or `apt-get` if no known one is found."""
    return next(filter(shutil.which, MANAGERS), "apt-get")


def install(name: str, by: str | None = None, *, root: bool | None = None) -> str:
    """Return the command that installs a program of `PACKAGES` with the package manager `by`.

    By default, `by` is the package manager of this machine, and `root` is whether this process runs as root. Without
    `root`, the command begins with `sudo`.
    """
    if by is None and sys.platform == "darwin" and name.endswith("compiler"):
        return "xcode-select --install"
    chosen = by or manager()
    names = PACKAGES[name]
    package = names.get(chosen, names.get("", name))
    if not package:
        return f"{chosen} has no package with {name}: use a Linux machine with another package manager"
    if root is None:
        root = not hasattr(os, "geteuid") or os.geteuid() == 0
    sudo = "" if root or chosen == "brew" else "sudo "
    return f"{sudo}{_INSTALL[chosen]} {package}"


VALGRIND: Final = install("valgrind")
C_COMPILER: Final = install("C compiler")
CPP_COMPILER: Final = install("C++ compiler")
PYTHON_HEADERS: Final = install("Python headers")
SETARCH: Final = install("util-linux")
SETPRIV: Final = install("util-linux")
BUBBLEWRAP: Final = install("bubblewrap")


def lacking(what: str, install: str, *commands: str) -> str:
    """Return "" if all `commands` are found, or else what is missing. A compiler is always missing on Windows."""
    if sys.platform == "win32" and what.endswith("compiler"):
        return f"compiling needs {what}, which fairclock finds only on Linux and macOS"
    return "" if all(map(shutil.which, commands)) else f"{what} is missing: {install}"
