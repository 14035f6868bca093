"""Valgrind's command line, and its last words: how many instructions a process took, from its first to its last.

`valgrind --tool=callgrind` says so itself, on a descriptor of its own, once the program under it has ended. Nothing
else of its output is used: a profile is a file, and a file can be written by others.
"""

import re
import shutil
import sys
from collections.abc import Sequence
from typing import Final

from grader.errors import MachineError
from harness import programs

INSTALL_HINT: Final = f"install it with `{programs.VALGRIND}`"
_TOTAL: Final = re.compile(r"==(\d+)== Collected : (\d+)")
_AGAIN: Final = re.compile(r"==(\d+)== I   refs: +([\d,]+)")


class LogError(ValueError):
    """A log that is not the one of one process that valgrind saw to its end."""


def trouble() -> str | None:
    """Why no instructions can be counted here, with the command that changes it; None when they can."""
    if sys.platform != "linux":
        return "valgrind counts on Linux alone"
    return None if shutil.which("valgrind") else f"valgrind is missing: {INSTALL_HINT}"


def require() -> None:
    """Raise a `MachineError` with what to do when no instructions can be counted here."""
    if reason := trouble():
        raise MachineError(f"Instructions cannot be counted here: {reason}.")


def command(program: Sequence[str], log: int) -> list[str]:
    """The command that counts a program's instructions and tells them on the descriptor `log`, which it inherits.

    Valgrind takes a copy of the descriptor for itself, out of the program's reach; the program closes `log`. A program
    that this one starts is not counted, and what it forks tells a total of its own.
    """
    require()
    options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--vgdb=no", "--trace-children=no"]
    return [shutil.which("valgrind") or "", *options, f"--log-fd={padded(log)}", *program]


def padded(descriptor: int) -> str:
    """A descriptor's number in always as many digits: a longer command line is a few instructions more."""
    return f"{descriptor:05d}"


def total(log: str) -> int:
    """The instructions that a log tells of. Raises `LogError` unless it tells them exactly once, and to its end.

    Valgrind gives the sum twice, as the last two things it says; who wants to say something else before can only add
    to that.
    """
    totals, again = _TOTAL.findall(log), _AGAIN.findall(log)
    if len(totals) != 1 or len(again) != 1:
        raise LogError(f"valgrind's log has {len(totals)} totals where one belongs")
    (process, count), (same, spelled) = totals[0], again[0]
    if process != same or int(count) != int(spelled.replace(",", "")):
        raise LogError("valgrind's log contradicts itself")
    if not _AGAIN.fullmatch(log.rstrip().splitlines()[-1]):
        raise LogError("valgrind's log goes on after its end")
    return int(count)
