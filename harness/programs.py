"""Programs of the system that some measurements take: what brings each, and whether one is missing here."""

import shutil
from typing import Final

VALGRIND: Final = "apt-get install valgrind"
C_COMPILER: Final = "apt-get install gcc libc6-dev"
CPP_COMPILER: Final = "apt-get install g++"
PYTHON_HEADERS: Final = "apt-get install python3-dev"
SETARCH: Final = "apt-get install util-linux"


def lacking(what: str, install: str, *commands: str) -> str:
    """That `what` is missing, with what brings it, unless all of its `commands` are found; "" when they are."""
    return "" if all(map(shutil.which, commands)) else f"{what} is missing: {install}"
