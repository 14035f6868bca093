"""Programs of the system that some measurements need: how to install each here, and whether one is missing."""

import os
import shutil
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

MANAGERS: Final = ("apt-get", "dnf", "pacman", "zypper", "brew")
"""Package managers, in the order in which they are looked for."""

_INSTALL: Final = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "pacman": "pacman -S",
    "zypper": "zypper install",
    "brew": "brew install",
}

_VERSION: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
"""Debian has headers for each Python by itself; `python3-dev` brings those of its default Python."""

PACKAGES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "valgrind": {"brew": ""},
        "C compiler": {"apt-get": "gcc libc6-dev", "brew": "gcc", "": "gcc"},
        "C++ compiler": {"apt-get": "g++", "dnf": "gcc-c++", "zypper": "gcc-c++", "": "gcc"},
        "Python headers": {
            "pacman": "python",
            "brew": "python",
            "": "python3-devel",
            "apt-get": f"python{_VERSION}-dev",
        },
        "util-linux": {},
        "bubblewrap": {"brew": ""},
        "libc debug symbols": {"apt-get": "libc6-dbg", "": "glibc-debuginfo", "pacman": "", "brew": ""},
    }
)
"""What brings each program, by package manager: "" stands for the others, without it the package has the same name.

An empty package name says that this manager has none."""

_XCODE: Final = "xcode-select --install"
_OF_XCODE: Final = frozenset({"C compiler", "C++ compiler"})


def manager() -> str:
    """Return this machine's package manager; `apt-get` where none is found, as on the Debian that CI runs."""
    return next(filter(shutil.which, MANAGERS), "apt-get")


def install(name: str, by: str | None = None, *, root: bool | None = None) -> str:
    """Return the command that installs one of `PACKAGES`, by this machine's package manager unless one is named.

    It begins with `sudo` unless `root`, which by default says whether this process is root's.
    """
    if by is None and sys.platform == "darwin" and name in _OF_XCODE:
        return _XCODE
    chosen = by or manager()
    names = PACKAGES[name]
    package = names.get(chosen, names.get("", name))
    if not package:
        return f"{chosen} has no package for this ({name}): use another Linux machine"
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
LIBC_SYMBOLS: Final = install("libc debug symbols")


def lacking(what: str, install: str, *commands: str) -> str:
    """That `what` is missing, with what brings it, unless all of its `commands` are found; "" when they are."""
    return "" if all(map(shutil.which, commands)) else f"{what} is missing: {install}"


def lacking_compiler(what: str, install: str, command: str) -> str:
    """The same for a compiler, which Windows has under no fixed name."""
    if sys.platform == "win32":
        return f"compiling needs {what}, set up, which is looked for on Linux and macOS alone"
    return lacking(what, install, command)
