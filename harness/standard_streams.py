"""The standard streams of a command, of which a shell may have closed any, and which may stop taking output."""

import codecs
import contextlib
import errno
import io
import os
import sys
from typing import TextIO

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""The numbers of the errors of the operating system that has no room for a file."""

_OF_OUTPUT = FULL | {errno.EPIPE, errno.EIO, errno.EBADF}
QUIETLY = " "
"""The reason for a stream that nobody reads any more, as in `| head`. There is nobody to tell."""

_SIGNS = "✓✗×–—−·─━│┃“”„‘’µμ█▇▆▅▄▃▂▁\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"  # noqa: RUF001
_PLAIN = {
    **dict(zip(_SIGNS, '+xx------||"""\'\'uu####===_  ', strict=True)),
    "±": "+-",
    "…": "...",
    "÷": "/",
    "→": "->",
    "∞": "inf",
    "≥": ">=",
    "≤": "<=",
    "²": "^2",
    "³": "^3",
}
"""What stands for a sign on a terminal that cannot show it. All other signs become "?"."""


def open_closed() -> None:
    """Let each closed standard stream lead nowhere, and print a plain character for each that a terminal cannot show.

    Otherwise the next file or socket that the program opens would be taken for the closed stream.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number
    sys.stdout, sys.stderr = sys.stdout or _nowhere(1), sys.stderr or _nowhere(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_plainly.__name__)


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Replace the characters that an encoding lacks. `codecs` calls this function."""
    assert isinstance(error, UnicodeEncodeError)
    return "".join(_PLAIN.get(sign, "?") for sign in error.object[error.start : error.end]), error.end


codecs.register_error(_plainly.__name__, _plainly)


def discard_typed() -> None:
    """Discard the keys that were pressed on the terminal and not read yet."""
    if not sys.stdin.isatty():
        return
    try:
        import termios  # noqa: PLC0415 - not on Windows

        with contextlib.suppress(OSError, ValueError, termios.error):  # the terminal has been closed
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except ImportError:
        import msvcrt  # noqa: PLC0415 - only on Windows

        while msvcrt.kbhit():  # type: ignore[attr-defined,unused-ignore]
            msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore]


def why_lost(error: Exception) -> str:
    """Return why output could not be written, if that caused `error`, or "". Such a stream then leads nowhere."""
    own = isinstance(error, OSError) and error.filename is None and error.errno in _OF_OUTPUT
    lost = error if own else None
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as fault:
            lose(stream)
            lost = fault
    if not isinstance(lost, OSError):
        return ""
    return QUIETLY if lost.errno == errno.EPIPE else f"The output could not be written ({lost.strerror})."


def lose(stream: TextIO) -> None:
    """Let a stream lead nowhere from now on. Otherwise Python would try to write to it at exit, and print an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _nowhere(number: int) -> TextIO:
    return open(number, "w", encoding="utf-8", closefd=False)
