"""A function written in C, as a string in a Python file: compiled in a sandbox, then loaded like any submission.

The file's Python is never run: it is parsed for the string (`inside/native_build.py`), in a sandbox, since a parser can
be made to crash. The compiler runs there, too, after nothing and before nothing else: no network, no file but the
system's own, limits on memory, files, processes and time. What it makes is believed no more than any other code of a
submission. It is loaded in a worker, by a module of ours (`inside/native_module.py`), and called like a function in
Python: hidden cases, fresh inputs, clocks outside.

Two libraries are made. The one that is checked stops where C leaves undefined what happens (an address that does not
fit its type, a shift too far, an overflow), with the line where it did. Only the other one is timed.
"""

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

from grader.errors import MachineError, UsageError, WorkerFault
from grader.inside import protocol
from grader.isolation import confined
from grader.isolation.confined import Room
from grader.records import Status
from grader.task import Limits, Task, TensorExam
from grader.trials import failing
from grader.trials.faults import NOT_PYTHON, NOT_WRITTEN, untrusted
from harness import programs

INSTALL_HINT: Final = f"install it with `{programs.C_COMPILER}`"
MOST_FILE_BYTES: Final = 16 << 20
MOST_PROCESSES: Final = 16
"""gcc starts its parts as processes, and they hand over files."""
MOST_LIBRARY_BYTES: Final = 512 << 10
"""What fits into a message to a worker."""
SHOWN_LINES: Final = 3

_FLAGS: Final = ("-x", "c", "-std=gnu17", "-shared", "-fPIC", "-fno-diagnostics-show-caret", "-fno-diagnostics-color")
_LINKED: Final = () if sys.platform == "darwin" else ("-Wl,-z,defs", "-Wl,-s")
FLAGS: Final[Mapping[str, tuple[str, ...]]] = {
    "checked": (*_FLAGS, "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", *_LINKED),
    "timed": (*_FLAGS, "-O2", *_LINKED),
}
"""The compiler's arguments for either library."""

_HEADERS: Final = "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n"
_RIGHT: Final = f"probe = {_HEADERS + 'int probe(void) { return 0; }'!r}"
"""A file that compiles wherever there is a compiler."""

_ERROR: Final = re.compile(r"submission\.c:(\d+):(?:\d+:)? (?:fatal )?error: (.*)")
_UNDEFINED: Final = re.compile(r"submission\.c:(\d+):\d+: runtime error: (.*)")
_NOISE: Final = re.compile(
    r"In function|In file included|^\s+from |ld returned|compilation terminated|Assembler messages|^\s*$"
)


@dataclass(frozen=True, slots=True)
class Built:
    """A submission as texts for a worker: one to be `checked`, one to be `timed`. In Python they are the same."""

    checked: str
    timed: str


def is_native(task: Task) -> bool:
    """Whether the function of a task is written in C."""
    return isinstance(task.exam, TensorExam) and task.exam.in_c


@cache
def compiler() -> str | None:
    """The C compiler that builds submissions; None without one."""
    return shutil.which("gcc") or shutil.which("cc")


def require() -> str:
    """The compiler, or a `MachineError` with what to do."""
    if found := compiler():
        return found
    raise MachineError(f"A C compiler is missing: {INSTALL_HINT}.")


class Place(Protocol):
    """Where compiling takes place: sandboxed or not, and what must not be seen there."""

    @property
    def sandboxed(self) -> bool:
        """Whether a sandbox is around it."""

    @property
    def hidden(self) -> Sequence[Path]:
        """Paths that must not be seen even if the system part contains them."""


@dataclass(frozen=True, slots=True)
class Here:
    """A place of this process; unless it is said otherwise, one without a sandbox."""

    sandboxed: bool = False
    hidden: Sequence[Path] = ()


def built(task: Task, source: str, trees: Place) -> Built:
    """Make a file ready for a worker: as it is, or compiled where the task's function is written in C.

    Raises `WorkerFault` for a file that cannot be compiled, and `MachineError` without a compiler.
    """
    if not is_native(task):
        return Built(source, source)
    compiling = require()
    told = _compiled(source, task.name, task.limits, trees, compiling)
    with untrusted(task.name):
        fault = _fault(task.name, told)
    if fault:
        if broken := _broken(Here(trees.sandboxed, tuple(trees.hidden)), compiling):
            raise MachineError(f"The C compiler {compiling} does not work here ({broken}): {INSTALL_HINT}.")
        raise fault
    checked, timed = (_module(task.name, told["libraries"][name]) for name in ("checked", "timed"))
    return Built(checked, timed)


def _compiled(source: str, name: str, limits: Limits, place: Place, compiling: str) -> Mapping[str, Any]:
    """What `inside/native_build.py` tells of a file, in a sandbox where the place is one; nothing where it was ended.

    Compiling may take as much CPU time as loading a file, and on the wall as many times that as patience says.
    """
    commands = {kind: [compiling, *flags] for kind, flags in FLAGS.items()}
    program = [sys.executable, "-S", "-s", "-P", "-B", "-c", confined.program("native_build")]
    ended = confined.run(
        lambda answer, *_: [*program, str(answer)],
        json.dumps({"text": source, "name": name, "commands": commands}).encode(),
        limits,
        limits.load_s * limits.patience,
        sandboxed=place.sandboxed,
        hidden=place.hidden,
        room=Room(MOST_FILE_BYTES, MOST_PROCESSES, int(limits.load_s)),
    )
    if ended.status is None:
        return {"fault": "time", "message": f"{limits.load_s:g} s"}
    try:
        return protocol.parse(ended.answer) if not ended.status else {}
    except protocol.ProtocolError:
        return {}


@cache
def _broken(place: Here, compiling: str) -> str:
    """Why not even a right file compiles at a place; "" when one does. Asked where a submission's does not."""
    told = _compiled(_RIGHT, "probe", Limits(), place, compiling)
    return "" if "libraries" in told else " ".join(str(told.get("message") or "it was ended").split())[:200]


built_once = cache(built)
"""The same for known submissions, which many hand-ins are compared with, at a place that can be a key."""


def baseline(task: Task) -> str:
    """Return the task's own baseline as a text for a worker. It is compiled without a sandbox: it is trusted."""
    return built_once(task, task.baseline, Here()).timed


def function(tasks: Iterable[Task], source: str) -> Callable[..., Any]:
    """C source as a function to try out in this very process: that of the one task which is written in C.

    Raises `NotImplementedError` for the stub, and `UsageError` for source that does not compile, or where no task is
    written in C.
    """
    task = next(filter(is_native, tasks), None)
    if task is None:
        raise UsageError("A text cannot be called: no task of this lesson is written in C.")
    try:
        text = built(task, f"{task.name} = {source!r}", Here()).timed
    except WorkerFault as fault:
        said = str(fault).replace("of the file", "of the text")
        raise NotImplementedError(said) if fault.help == NOT_WRITTEN else UsageError(said) from None
    names: dict[str, Any] = {}
    exec(compile(text, task.name, "exec"), names)  # noqa: S102 - a student's own code, at the student's own desk
    made: Callable[..., Any] = names[task.name]
    if made is None:
        raise UsageError(f"The C source has no function {task.name}.")
    made.__name__ = task.name
    return made


@contextmanager
def undefined_told() -> Iterator[None]:
    """Say in a student's words where a checked library has stopped, instead of how its process ended."""
    try:
        yield
    except WorkerFault as fault:
        if not (found := _UNDEFINED.search(fault.printed)):
            raise
        line, what = found.groups()
        said = f"What the C does there is left undefined by the language: {what} (line {line} of the file)."
        where = fault.help.partition(". ")[0] + "." if fault.help.startswith(failing.HAPPENED) else ""
        told = WorkerFault(Status.WRONG, said, where)
        told.printed = fault.printed
        raise told from None


def _module(name: str, library: str) -> str:
    return f"{confined.program('native_module')}\n\n{name} = bound({name!r}, {library!r})\n"


def _fault(name: str, told: Mapping[str, Any]) -> WorkerFault | None:
    """What kept a file from being compiled, in words for its student; None where there are libraries."""
    libraries = told.get("libraries")
    if isinstance(libraries, dict) and all(isinstance(libraries.get(kind), str) for kind in FLAGS):
        if all(len(libraries[kind]) <= MOST_LIBRARY_BYTES for kind in FLAGS):
            return None
        said = f"The library made of {name} is larger than {MOST_LIBRARY_BYTES >> 10} KiB."
        return WorkerFault(Status.RAISED, said, "Fill large tables when they are first needed.")
    line = told.get("line")
    where = f" (line {line} of the file)" if isinstance(line, int) else ""
    message = str(told.get("message", ""))
    match told.get("fault"):
        case "syntax":
            return WorkerFault(Status.RAISED, f"{NOT_PYTHON} {message[:200]}{where}.", "Fix the line named.")
        case "missing":
            said = f"The file has no string {name}."
            return WorkerFault(Status.RAISED, said, "Assign the C source to that name; the exercise shows how.")
        case "no string":
            said = f"{name} is not one plain string{where}."
            return WorkerFault(Status.RAISED, said, "Write all of the C source out: the file's Python is not run.")
        case "time":
            said = f"The C source in {name} took more than {message} to compile."
            return WorkerFault(Status.TIMED_OUT, said, "No compiler takes that long for what is written by hand.")
        case "compiler":
            return _complaint(name, message)
    said = f"The compiler was ended while it worked on {name}, most likely for its memory."
    return WorkerFault(Status.OUT_OF_MEMORY, said, "Look for an array or an expansion far larger than needed.")


def _complaint(name: str, said: str) -> WorkerFault:
    """What a compiler said, its first error first."""
    errors = _ERROR.findall(said)
    if errors and errors[0][1].startswith("#error"):
        line, words = errors[0]
        reason = words.removeprefix("#error").strip().strip('"')
        return WorkerFault(Status.RAISED, f"{name} is still the stub (line {line} of the file). {reason}", NOT_WRITTEN)
    told = [f"{message} (line {line} of the file)" for line, message in errors]
    told = told or [line.strip() for line in said.splitlines() if not _NOISE.search(line)] or ["it does not say why"]
    lines = [f"The C source in {name} does not compile: {told[0][:300]}.", *(f"  {each[:300]}" for each in told[1:])]
    return WorkerFault(Status.RAISED, "\n".join(lines[:SHOWN_LINES]), "Begin with the first error.")
