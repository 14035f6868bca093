"""Find out why fairclock cannot run with this Python: its version, or packages that are missing or too old.

Commands call `require` before they import a package. This file also runs with Python 3.8.
"""

import importlib.util
import re
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

KIT = Path(__file__).parents[1]
MODULES = {"pyyaml": "yaml", "ipython": "IPython"}
"""The modules of packages that have other names than their modules."""

ON_WINDOWS = (
    "This command does not run on Windows itself, but in WSL 2, which is Linux inside Windows. Run `wsl --install` in "
    "PowerShell, restart, and set up the kit again in the Linux terminal. Without WSL 2, only lessons run: "
    "python -m lessons"
)


def require(*, linux: bool = False) -> None:
    """End this process with exit code 2 and one sentence if fairclock cannot run with this Python.

    With `linux`, the command does not run on Windows either. Until `guarded` begins, Ctrl-C ends the process without
    the traceback of an import.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if said := (linux and sys.platform == "win32" and ON_WINDOWS) or problem():
        print(said, file=sys.stderr)
        sys.exit(2)


def problem() -> str:
    """Return why fairclock cannot run with this Python, with the command that fixes it, or ""."""
    if sys.version_info < (3, 11):  # noqa: UP036 - pip refuses older versions, but the kit can be run without pip
        running = ".".join(map(str, sys.version_info[:3]))
        return f"fairclock needs Python 3.11 or newer, and {sys.executable} is Python {running}. Install a newer one."
    needed, lacking = _requirements(), []
    installed = dict(reversed([*_installed()]))
    for name, least in needed.items():
        there = installed.get(name, "")
        if there and _numbers(there) < _numbers(least):
            lacking.append((f"{name} {there} is too old", f"'{name}>={least}'"))
        elif not there and importlib.util.find_spec(MODULES.get(name, name.replace("-", "_"))) is None:
            lacking.append((f"{name} is missing", f"'{name}>={least}'"))
    if not lacking:
        return ""
    if len(lacking) > len(needed) // 2:
        return f"fairclock is not installed for {sys.executable}. {_environment()}"
    pip = f"{shlex.quote(sys.executable)} -m pip" if "pip" in installed else "uv pip"
    found, packages = zip(*lacking)  # noqa: B905 - Python 3.8 does not know `strict`
    return f"fairclock cannot run, because {' and '.join(found)}. Run: {pip} install {' '.join(packages)}"


def _environment() -> str:
    activate = KIT / ".venv" / "bin" / "activate"
    if activate.is_file():
        return f"Run this once in each terminal: source {shlex.quote(str(activate))}"
    return f"Install it as {KIT / 'README.md'} describes."


def _requirements() -> dict[str, str]:
    """Return the packages that fairclock needs on each system, with the oldest versions that work."""
    import tomllib  # noqa: PLC0415 - Python 3.10 has no such module
    from importlib import metadata  # noqa: PLC0415 - takes 30 ms

    file = KIT / "pyproject.toml"
    if file.is_file():
        lines = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["dependencies"]
    else:  # the files were copied to the other packages
        lines = metadata.requires("fairclock") or []
    found = (re.fullmatch(r"([\w.-]+)>=([\d.]+)", line) for line in lines)
    return {each[1]: each[2] for each in found if each}


def _installed() -> Iterator[tuple[str, str]]:
    """Yield the names and versions of all installed packages. The names of their folders contain both."""
    for folder in sys.path:
        for path in Path(folder).glob("*-info"):
            name, _, version = path.stem.partition("-")
            yield re.sub(r"[-_.]+", "-", name).lower(), version


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", re.split(r"[^\d.]", version)[0])]
