"""What a submission raised, in words for its student, and whose fault it is."""

import contextlib
import errno
from collections.abc import Iterator, Mapping
from typing import Any, Final

from grader.errors import FairclockError, GraderFault, WorkerFault
from grader.isolation import seccomp
from grader.records import Status
from grader.task import Mismatch
from harness.clocks import ProcessGoneError

NOT_WRITTEN: Final = "not written yet"
"""The help of an attempt whose function is still the stub's."""
NOT_PYTHON: Final = "The file is not Python:"
"""How the words on a syntax error begin."""
NO_PROCESSES: Final = (
    "Starting processes is not allowed here (fork, subprocess, multiprocessing): "
    "do the work in the function that is called. Threads may be used. torch.compile and load_inline start a C++ "
    "compiler, so they cannot work here; numba compiles without one."
)
NO_NINJA: Final = "Ninja is required"
"""So torch.utils.cpp_extension says it when it could not start anything, ninja first."""
ADVICE: Final = "\n\n"
"""What torch.compile puts between a fault and its advice on debugging it, which is of no use here."""
SUPERVISORS_OWN: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC})
"""Errors of the supervisor's own: it or the machine has no descriptors, memory or disk left."""
WORD_CHARACTERS: Final = 80
LINE_CHARACTERS: Final = 120
MOST_FRAMES: Final = 8
MESSAGE_CHARACTERS: Final = 2000


class Raised(Exception):  # noqa: N818 - it is the submission's exception, told by the worker
    """The submission raised; `body` is what the worker says of it."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        super().__init__(f"{body.get('type')}: {body.get('message')}")
        self.type = str(body.get("type"))[:WORD_CHARACTERS]
        self.message = str(body.get("message"))[:MESSAGE_CHARACTERS]
        line = body.get("line")
        self.line = line if isinstance(line, int) else None
        self.not_written = body.get("not_written") is True
        self.syntax = body.get("syntax") is True
        self.memory = body.get("memory") is True
        self.missing = body.get("missing") is True
        self.errno = body.get("errno")
        self.trace = _trace(body.get("frames"))


def _trace(frames: object) -> tuple[str, ...]:
    """Return the lines of the submission that led to an exception; none where there is one line alone.

    A worker says what they are. They are shown to the student who handed in what it runs, and believed in nothing.
    """
    told = [frame for frame in frames if isinstance(frame, list)] if isinstance(frames, list) else []
    if len(told) < 2:
        return ()
    lines = []
    for frame in told[:MOST_FRAMES]:
        number, name, text = (*frame, "", "", "")[:3]
        if isinstance(number, int) and isinstance(name, str) and isinstance(text, str):
            line = f"line {number} of the file, in {name[:WORD_CHARACTERS]}:  {text[:LINE_CHARACTERS].strip()}"
            lines.append("".join(char if char.isprintable() else "?" for char in f"  {line}".rstrip()))
    return tuple(lines)


def fault_of(raised: Raised, where: str, case: str = "") -> WorkerFault:
    """An exception of the submission as a fault with words for the student, and the `case` in which it came."""
    line = f" (line {raised.line} of the file)" if raised.line else ""
    if raised.not_written:
        said = f"{where} still raises NotImplementedError{line}. {raised.message}".rstrip()
        return WorkerFault(Status.RAISED, said, NOT_WRITTEN)
    if raised.missing:
        said = f"The file has no function {where}."
        return WorkerFault(Status.RAISED, said, "Write it under that name; the exercise shows how it begins.")
    if raised.memory:
        said = f"{where} asked for more memory than it may use{line}."
        return WorkerFault(Status.OUT_OF_MEMORY, _with_trace(said, raised, case))
    if raised.syntax:
        return WorkerFault(Status.RAISED, f"{NOT_PYTHON} {raised.message}{line}.", "Fix the line named.")
    if raised.errno == seccomp.PROCESS_ERRNO or raised.message.startswith(NO_NINJA):
        said = f"{where} raised {raised.type}: {raised.message.partition(ADVICE)[0]}{line}."
        return WorkerFault(Status.RAISED, _with_trace(said, raised, case), NO_PROCESSES)
    said = _with_trace(f"{where} raised {raised.type}: {raised.message}{line}.", raised, case)
    if raised.errno == errno.EPERM:
        return WorkerFault(Status.RAISED, said, "Code that is being graded may not do that.")
    return WorkerFault(Status.RAISED, said)


def _with_trace(said: str, raised: Raised, case: str) -> str:
    """Put the case last, where no text of the submission can come after it and pass for it (`failing.case`)."""
    if not raised.trace:
        return f"{said} {case}".rstrip()
    return "\n".join(filter(None, (said, *raised.trace, case)))


def wrong_after_all(mismatch: Mismatch, when: str) -> WorkerFault:
    """An answer that is wrong `when` its cost was measured, of a submission that was right in every case before."""
    said = f"Right in the correctness cases, wrong {when}: expected {mismatch.expected}, got {mismatch.got}."
    help_ = "Each call has an input of its own, and each answer is checked."
    return WorkerFault(Status.WRONG, f"{said} {mismatch.remark}".rstrip(), help_)


@contextlib.contextmanager
def untrusted(where: str) -> Iterator[None]:
    """Read, serve or judge a process that may run a submission: whatever fails meanwhile is a `WorkerFault`.

    A submission chooses the names, sizes and messages of its processes, and when they end. So an exception that the
    supervisor gets from them earns the submission a verdict, never a fault of the grader's that leaves it without one.
    Where the process runs trusted code, `ours` makes a fault of the grader's of it. Errors that no submission causes
    pass through: what the kit says of itself or of the machine, and the `SUPERVISORS_OWN`.
    """
    try:
        yield
    except (Raised, WorkerFault, GraderFault, MemoryError):
        raise
    except Exception as error:
        fair = isinstance(error, FairclockError) and not isinstance(error, ProcessGoneError)
        if fair or (isinstance(error, OSError) and error.errno in SUPERVISORS_OWN):
            raise
        said = f"The process of {where} showed or sent what cannot be read ({type(error).__name__})."
        help_text = "Leave the process as it is: its name, its threads and its file descriptors."
        raise WorkerFault(Status.CRASHED, said, help_text) from error


@contextlib.contextmanager
def theirs(where: str, case: str = "") -> Iterator[None]:
    """Run a submission: what it raises becomes a fault of its own, with words for the student, in this `case`.

    What the supervisor cannot read of it is its fault as well.
    """
    try:
        with untrusted(where):
            yield
    except Raised as raised:
        raise fault_of(raised, where, case) from None


@contextlib.contextmanager
def ours(what: str) -> Iterator[None]:
    """Run trusted code: whatever goes wrong with it is never a submission's fault."""
    try:
        yield
    except (Raised, WorkerFault) as fault:
        raise GraderFault(f"{what} failed: {fault}") from fault
