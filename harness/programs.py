"""Programs of the system that some measurements take: what brings each, and whether one is missing here."""

import shutil
import sys
from typing import Final

VALGRIND: Final = "apt-get install valgrind"
C_COMPILER: Final = "apt-get install gcc libc6-dev"
CPP_COMPILER: Final = "apt-get install g++"
PYTHON_HEADERS: Final = "apt-get install python3-dev"
SETARCH: Final = "apt-get install util-linux"


def lacking(what: str, install: str, *commands: str) -> str:
    """That `what` is missing, with what brings it, unless all of its `commands` are found; "" when they are."""
    return "" if all(map(shutil.which, commands)) else f"{what} is missing: {install}"


def lacking_compiler(what: str, install: str, command: str) -> str:
    """The same for a compiler, which Windows has under no fixed name."""
    if sys.platform == "win32":
        return f"compiling needs {what}, set up, which is looked for on Linux and macOS alone"
    return lacking(what, install, command)
