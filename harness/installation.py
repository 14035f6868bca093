"""Find out why fairclock cannot run with this Python: its version, or packages that are missing.

Commands call `require` before they import a package. This file also runs with Python 3.8.
"""

import re
import shlex
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

KIT = Path(__file__).parents[1]
MODULES = {"pyyaml": "yaml", "ipython": "IPython", "markdown-it-py": "markdown_it"}
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
    needed = _requirements()
    lacking = [name for name in needed if not find_spec(MODULES.get(name, name.replace("-", "_")))]
    if not lacking:
        return ""
    if len(lacking) > len(needed) // 2:
        return f"fairclock is not installed for {sys.executable}. {_environment()}"
    pip = (
        f"{shlex.quote(sys.executable)} -m pip"
        if any(Path(folder, "pip").is_dir() for folder in sys.path)
        else "uv pip"
    )
    packages = " ".join(f"'{name}>={needed[name]}'" for name in lacking)
    return f"fairclock cannot run, because {' and '.join(lacking)} is missing. Run: {pip} install {packages}"


def _environment() -> str:
    activate = KIT / ".venv" / "bin" / "activate"
    if activate.is_file():
        return f"Run this once in each terminal: source {shlex.quote(str(activate))}"
    return f"Install it as {KIT / 'README.md'} describes."


def _requirements() -> dict[str, str]:
    import tomllib  # noqa: PLC0415 - Python 3.10 has no such module
    from importlib import metadata  # noqa: PLC0415 - takes 30 ms

    file = KIT / "pyproject.toml"
    if file.is_file():
        lines = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["dependencies"]
    else:  # the files were copied to the other packages
        lines = metadata.requires("fairclock") or []
    found = (re.fullmatch(r"([\w.-]+)>=([\d.]+)", line) for line in lines)
    return {each[1]: each[2] for each in found if each}
