"""Turn exceptions into faults of the submission, with a text for the student, or into internal errors."""

import contextlib
import errno
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.cells import cell_len, chop_cells, set_cell_size

from grader.errors import FairclockError, GraderFault, WorkerFault
from grader.isolation import seccomp
from grader.records import Attempt, Status
from grader.source import CodeCell, Notebook
from grader.task import Mismatch
from harness.machine.clocks import ProcessGoneError
from harness.rendering.texts import shown

NOT_WRITTEN: Final = "not written yet"
"""The advice for a student whose function still raises the exercise file's NotImplementedError."""
NOT_PYTHON: Final = "The file is not Python:"
"""The beginning of the message about a syntax error."""
NO_PROCESSES: Final = (
    "Starting processes is not allowed here (fork, subprocess, multiprocessing). "
    "Do the work in the function itself. Threads are allowed. torch.compile and load_inline start a C++ "
    "compiler, so they do not work in a submission. numba works, because it needs no other process."
)
ALONE: Final = "Your code is graded without other files, the keyboard and the network: do not use them."
USES_OTHERS: Final = frozenset({"FileNotFoundError", "EOFError", "PermissionError", "gaierror", "URLError"})
"""The exceptions of code that opens a file, reads the keyboard or uses the network."""
NO_NINJA: Final = "Ninja is required"
"""The message of torch.utils.cpp_extension if it cannot start a process. Its first process is ninja."""
ADVICE: Final = "\n\n"
"""The text between an error of torch.compile and its debugging advice, which students do not read."""
SUPERVISORS_OWN: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC})
"""The errno values that a submission cannot cause: the machine lacks file descriptors, memory or disk space."""
SMALLEST: Final = "The smallest:"
SMALLEST_RAISED: Final = "The smallest case:"
RAISED_IN: Final = "It happened in:"
FIRST: Final = "The first:"
HAPPENED: Final = "It happened with"
"""The five labels before the failing test case: of tensors, simulated scenarios, and a process that ended."""
MISSING: Final = "The file has no function"
"""The beginning of the message about a function that is not there."""
MOST_REMARKS: Final = 8
WORD_CHARACTERS: Final = 80
LINE_CHARACTERS: Final = 120
EXCERPT_CHARACTERS: Final = 400
EXCERPT_COLUMNS: Final = 70
"""A line with a syntax error is shown with at most this number of columns. A longer one is cut around the caret."""
MOST_FRAMES: Final = 8
MESSAGE_CHARACTERS: Final = 2000
CELL_CHARACTERS: Final = 300
"""A remark on a cell contains at most this much of its exception's message."""


class Raised(Exception):  # noqa: N818 - it stands for the submission's exception
    """The submission raised an exception. `body` is the message about it from the submission's process."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.type = shown(str(body.get("type"))[:WORD_CHARACTERS], lines=False)
        self.message = str(body.get("message"))[:MESSAGE_CHARACTERS]
        super().__init__(f"{self.type}: {self.message}")
        self.line = line if isinstance(line := body.get("line"), int) else None
        self.flags = {name for name in ("not_written", "syntax", "memory", "missing") if body.get(name) is True}
        self.errno = number if isinstance(number := body.get("errno"), int) else None
        self.excerpt = _excerpt(str(body.get("excerpt", "")), body.get("caret"))
        self.trace = _trace(body.get("frames"))


def _excerpt(line: str, caret: object) -> tuple[str, ...]:
    at = min(max(caret, 0), len(line)) if isinstance(caret, int) else 0
    before, after = (shown(part.replace("\t", " ")[:EXCERPT_CHARACTERS]) for part in (line[:at], line[at:]))
    before, after = before.lstrip(), after.rstrip() if before.strip() else after.strip()
    if cell_len(before + after) > EXCERPT_COLUMNS:
        most = EXCERPT_COLUMNS - min(cell_len(after), EXCERPT_COLUMNS // 2)
        before = before if cell_len(before) <= most else f"…{chop_cells(before[::-1], most - 1)[0][::-1]}"
        after = set_cell_size(after, EXCERPT_COLUMNS - cell_len(before)).rstrip()
    return (f"    {before}{after}".rstrip(), f"    {' ' * cell_len(before)}^") if before + after else ()


def _trace(frames: object) -> tuple[str, ...]:
    valid = [frame for frame in frames if isinstance(frame, list)] if isinstance(frames, list) else []
    lines = []
    for frame in valid[:MOST_FRAMES]:
        number, name, text = (*frame, "", "", "")[:3]
        if isinstance(number, int) and isinstance(name, str) and isinstance(text, str):
            line = f"  line {number} of the file, in {name[:WORD_CHARACTERS]}:  {text[:LINE_CHARACTERS].strip()}"
            lines.append(shown(line.rstrip(), lines=False))
    return tuple(lines)


def fault_of(raised: Raised, where: str, case: str = "") -> WorkerFault:
    """Return an exception of the submission as a `WorkerFault` with a text for the student.

    `where` is the name of the function, or "The file". `case` describes the input.
    """
    line = f" (line {raised.line} of the file)" if raised.line else ""
    if "not_written" in raised.flags:
        text = f"{where} still raises NotImplementedError{line}. {raised.message}".rstrip()
        return WorkerFault(Status.RAISED, text, NOT_WRITTEN)
    if "missing" in raised.flags:
        help_text = "Write it under this name. The exercise file has its first line."
        return WorkerFault(Status.RAISED, f"{MISSING} {where}.", help_text)
    if "syntax" in raised.flags:
        text = "\n".join((f"{where} is not Python: {raised.message}{line}.", *raised.excerpt))
        return WorkerFault(Status.REFUSED, text, "Correct this line.")
    if "memory" in raised.flags:
        text = f"{where} asked for more memory than is allowed{line}."
        return WorkerFault(Status.OUT_OF_MEMORY, _with_trace(text, raised, case))
    message, help_text = raised.message, ""
    if raised.errno == seccomp.PROCESS_ERRNO or message.startswith(NO_NINJA):
        message, help_text = message.partition(ADVICE)[0], NO_PROCESSES
    elif raised.errno == errno.EPERM:
        help_text = "A submission may not use this operation while it is graded."
    elif raised.type in USES_OTHERS or raised.errno == errno.EROFS:
        help_text = ALONE
    text = _with_trace(f"{where} raised {raised.type}{message and f': {message}'}{line}.", raised, case)
    return WorkerFault(Status.RAISED, text, help_text)


def cell_remarks(notebook: Notebook, raised: Sequence[tuple[CodeCell, Raised]], skipped: object) -> Iterator[str]:
    """Yield sentences on the cells of a notebook that raised an exception, and on commands that were `skipped`."""
    commands = skipped[:MOST_REMARKS] if isinstance(skipped, list) else []
    lines = [command[:LINE_CHARACTERS] for command in commands if isinstance(command, str)]
    if lines:
        yield f"These commands work only in Jupyter, so they were not run: {shown(', '.join(lines), lines=False)}."
    for cell, error in raised[:MOST_REMARKS]:
        error.message, error.trace = " ".join(error.message[:CELL_CHARACTERS].split()), error.trace[-1:]
        fault = fault_of(error, f"C{cell.place[1:]}")
        said = notebook.with_cell_lines(fault.rationale).replace(f" of {cell.place}", "")
        yield f"{said}\n{fault.help.replace(NOT_WRITTEN, '')}".rstrip()
    if raised:
        more = f"{len(raised) - MOST_REMARKS} more cells raised exceptions. " if len(raised) > MOST_REMARKS else ""
        yield f"{more}The other cells were run. In Jupyter, “Run All Cells” stops at the first exception."


def _with_trace(text: str, raised: Raised, case: str) -> str:
    if not raised.trace:
        return f"{text} {case}".rstrip()
    return "\n".join(filter(None, (text, *raised.trace, case)))


def wrong_after_all(mismatch: Mismatch, when: str) -> WorkerFault:
    """Return the fault of a submission that passes all test cases, but gives a wrong answer while it is measured."""
    text = f"Right in the correctness cases, but wrong {when}: expected {mismatch.expected}, got {mismatch.got}."
    help_ = "Each call gets a new input, and the answers are checked secretly."
    return WorkerFault(Status.WRONG, f"{text} {mismatch.remark}".rstrip(), help_)


@contextlib.contextmanager
def untrusted(where: str) -> Iterator[None]:
    """Turn an exception inside the `with` block into a `WorkerFault`, because the submission may have caused it.

    A submission decides on the names, sizes, messages and end of its processes. Exceptions that no submission can cause
    are not changed: errors of the grader or of the machine, and `SUPERVISORS_OWN`.
    """
    try:
        yield
    except (Raised, WorkerFault, GraderFault, MemoryError):
        raise
    except Exception as error:
        fair = isinstance(error, FairclockError) and not isinstance(error, ProcessGoneError)
        if fair or (isinstance(error, OSError) and error.errno in SUPERVISORS_OWN):
            raise
        text = f"The process of {where} sent data that cannot be read ({type(error).__name__})."
        help_text = "Do not change the name, the threads or the file descriptors of the process."
        raise WorkerFault(Status.PROTOCOL_VIOLATION, text, help_text) from error


@contextlib.contextmanager
def blame_submission(where: str, case: str = "") -> Iterator[None]:
    """Like `untrusted`, and turn an exception of the submission into a `WorkerFault`. `case` describes the input."""
    try:
        with untrusted(where):
            yield
    except Raised as raised:
        raise fault_of(raised, where, case) from None


@contextlib.contextmanager
def blame_grader(what: str) -> Iterator[None]:
    """Turn a failure of trusted code inside the `with` block into a `GraderFault`: an internal error."""
    try:
        yield
    except (Raised, WorkerFault) as fault:
        raise GraderFault(f"{what} failed: {fault}") from fault


def failing_case(attempt: Attempt) -> str:
    """Return the description of the failing test case in the text for the student, or "" if there is none."""
    told = attempt.rationale
    if attempt.status is Status.WRONG:
        first_line = told.partition("\n")[0]
        return _after(SMALLEST, first_line) or _after(FIRST, first_line)
    if attempt.status is Status.RAISED:
        return _after(max((SMALLEST_RAISED, RAISED_IN), key=told.rfind), told)
    if attempt.help.startswith(HAPPENED):
        return _after(HAPPENED, attempt.help).partition(". ")[0].removesuffix(".")
    return ""


def _after(word: str, text: str) -> str:
    return text.rpartition(word)[2].strip() if word in text else ""
