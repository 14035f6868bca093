"""Judge trusted code in this process, without a sandbox, and end it if it takes too long."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from grader.kinds.examiner import Examiner, Solver

LONGEST_S: Final = 20.0
"""CPU seconds after which a function is ended. The slowest baseline takes a few seconds."""


class TooLongError(BaseException):
    """A function used more CPU time than its limit. `except Exception` in the function does not catch this error."""


def mistake_in_time(draw: Examiner[Any], solver: Solver) -> str:
    """Return what `draw.mistake` returns, or a description of a function that never ends. Windows has no time limit."""
    try:
        with ended_after(LONGEST_S):
            return draw.mistake(solver)
    except TooLongError:
        return "it never ends"


@contextmanager
def ended_after(cpu_s: float) -> Iterator[None]:
    """Raise `TooLongError` in the `with` block if it takes more than `cpu_s` seconds of CPU time.

    This has no effect on Windows, and outside of the main thread.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TooLongError

    try:
        older = signal.signal(signal.SIGVTALRM, end)
    except (ValueError, AttributeError):  # not the main thread, or Windows
        yield
        return
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, older)
