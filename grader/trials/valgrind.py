"""Count the instructions that a process executes from start to end, with Valgrind.

`valgrind --tool=callgrind` prints the count to its own file descriptor after the counted program has ended. Callgrind's
profile is not used, because it is a file, and other programs can write files too.
"""

import re
import shutil
import sys
from collections.abc import Sequence
from typing import Final

from grader.errors import MachineError
from harness.machine import programs

INSTALL_HINT: Final = f"install it with `{programs.VALGRIND}`"
_TOTAL: Final = re.compile(r"==(\d+)== Collected : (\d+)")
_AGAIN: Final = re.compile(r"==(\d+)== I   refs: +([\d,]+)")


class LogError(ValueError):
    """Valgrind's messages are not those of exactly one process that ran to its end."""


def trouble() -> str | None:
    """Return why instructions cannot be counted on this machine, with advice, or None if they can."""
    if sys.platform != "linux":
        return "the grader counts instructions with valgrind only on Linux"
    return None if shutil.which("valgrind") else f"valgrind is missing: {INSTALL_HINT}"


def require() -> None:
    """Raise `MachineError` if instructions cannot be counted on this machine. Its message gives the reason."""
    if reason := trouble():
        raise MachineError(f"Instructions cannot be counted on this machine: {reason}.")


def command(program: Sequence[str], log: int) -> list[str]:
    """Return the command that counts a program's instructions and prints the count to the inherited descriptor `log`.

    The program cannot close Valgrind's copy of the descriptor, but should close `log`. Other programs that it starts
    are not counted. If it forks, the new process prints a count of its own.
    """
    require()
    options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--vgdb=no", "--trace-children=no"]
    return [shutil.which("valgrind") or "", *options, f"--log-fd={padded(log)}", *program]


def padded(descriptor: int) -> str:
    """Return a file descriptor's number with five digits, so that all command lines have the same length.

    A longer command line costs more instructions.
    """
    return f"{descriptor:05d}"


def total(log: str) -> int:
    """Return the number of instructions from Valgrind's messages.

    Valgrind prints this number twice, as its last two messages. Raise `LogError` unless `log` has exactly one such
    number and ends with it. A program that writes to the log can only add text to it.
    """
    totals, again = _TOTAL.findall(log), _AGAIN.findall(log)
    if len(totals) != 1 or len(again) != 1:
        raise LogError(f"valgrind's log has {len(totals)} totals instead of one")
    (process, count), (same, spelled) = totals[0], again[0]
    if process != same or int(count) != int(spelled.replace(",", "")):
        raise LogError("valgrind's log contradicts itself")
    if not _AGAIN.fullmatch(log.rstrip().splitlines()[-1]):
        raise LogError("valgrind's log has text after the total")
    return int(count)
