"""Compile a submitted function that is written in C, as a string in a Python file.

The file's Python code is never run. The file is parsed (`inside/native_build.py`) and compiled in a sandbox, because it
can make the parser crash. The submission's process loads the library with `inside/native_module.py`. Each source is
compiled to two libraries. The first stops at undefined behaviour, such as an overflow, and reports the line. The second
has no such checks, and is timed.
"""

import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from grader.errors import MachineError, WorkerFault
from grader.inside import protocol
from grader.isolation import sandbox
from grader.limits import Limits
from grader.paths import GRADER
from grader.records import Status
from grader.source import CodeCell, Notebook, Source
from grader.task import Task
from grader.trials.faults import HAPPENED, NOT_PYTHON, NOT_WRITTEN, untrusted
from harness.machine import programs

INSTALL_HINT: Final = f"install it with `{programs.C_COMPILER}`"
MOST_FILE_BYTES: Final = 16 << 20
MOST_PROCESSES: Final = 16
"""The most processes of one compilation. gcc runs each stage in a process of its own."""
MOST_LIBRARY_BYTES: Final = 512 << 10
"""The largest compiled library, because it is sent in one message."""

_FLAGS: Final = ("-x", "c", "-std=gnu17", "-shared", "-fPIC", "-fno-diagnostics-show-caret", "-fno-diagnostics-color")
_LINKED: Final = () if sys.platform == "darwin" else ("-Wl,-z,defs", "-Wl,-s")
FLAGS: Final[Mapping[str, tuple[str, ...]]] = {
    "checked": (*_FLAGS, "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", *_LINKED),
    "timed": (*_FLAGS, "-O2", *_LINKED),
}
"""The compiler's arguments for each library that is compiled."""

_RIGHT: Final = "probe = '#include <stdint.h>\\nint probe(void) { return 0; }'"

_ERROR: Final = re.compile(r"submission\.c:(\d+):(?:\d+:)? (?:fatal )?error: (.*)")
_UNDEFINED: Final = re.compile(r"submission\.c:(\d+):\d+: runtime error: (.*)")
_NOISE: Final = re.compile(
    r"In function|In file included|^\s+from |ld returned|compilation terminated|Assembler messages|^\s*$"
)


@dataclass(frozen=True, slots=True)
class Built:
    """Code that loads a submission: one to check answers, one to time. For Python code they are equal."""

    checked: Source
    timed: Source


@cache
def compiler() -> str | None:
    """Return the path of the C compiler that builds submissions, or None."""
    return shutil.which("gcc") or shutil.which("cc")


def require() -> str:
    """Return the path of the C compiler. Raise `MachineError` with the command that installs one if there is none."""
    if found := compiler():
        return found
    raise MachineError(f"A C compiler is missing: {INSTALL_HINT}.")


def built(task: Task, source: Source, *, sandboxed: bool = False, hidden: tuple[Path, ...] = ()) -> Built:
    """Return the code that loads a submission: `source` itself, or texts with its compiled C function.

    If `sandboxed`, the compiler runs in a sandbox, in which the paths `hidden` are hidden. Raise `WorkerFault` if the
    source does not compile, and `MachineError` if there is no C compiler.
    """
    if not task.exam.in_c:
        return Built(source, source)
    compiling = require()
    compiled = partial(_compiled, compiling=compiling, sandboxed=sandboxed, hidden=hidden)
    told = compiled(source, task.name, task.limits)
    with untrusted(task.name):
        fault = _fault(task.name, told)
    if fault:
        tried = compiled(_RIGHT, "probe", Limits())
        if "libraries" not in tried:
            broken = " ".join(str(tried.get("message") or "it was ended").split())[:200]
            raise MachineError(f"The C compiler {compiling} does not work here ({broken}): {INSTALL_HINT}.")
        raise fault
    loader, libraries = program("native_module"), told["libraries"]
    texts = (f"{loader}\n\n{task.name} = bound({task.name!r}, {libraries[kind]!r})\n" for kind in FLAGS)
    return Built(*texts)


def program(name: str) -> str:
    """Return the source text of `grader/inside/NAME.py`."""
    return (GRADER / "inside" / f"{name}.py").read_text(encoding="utf-8")


def _compiled(
    source: Source, name: str, limits: Limits, *, compiling: str, sandboxed: bool, hidden: tuple[Path, ...]
) -> Mapping[str, Any]:
    commands = {kind: [compiling, *flags] for kind, flags in FLAGS.items()}
    cells = source.placed() if isinstance(source, Notebook) else [(0, CodeCell(1, source))]
    texts = [(above, cell.text) for above, cell in cells]
    argv = [sys.executable, "-S", "-s", "-P", "-B", "-c", program("native_build")]
    status, printed = sandbox.run(
        argv,
        json.dumps({"texts": texts, "name": name, "commands": commands}).encode(),
        limits,
        limits.load_s * limits.wall_factor,
        sandboxed=sandboxed,
        hidden=hidden,
        file_bytes=MOST_FILE_BYTES,
        processes=MOST_PROCESSES,
    )
    if status is None:
        return {"fault": "time", "message": f"{limits.load_s:g} s"}
    try:
        return protocol.parse(printed.rstrip().rpartition(b"\n")[2]) if not status else {}
    except protocol.ProtocolError:
        return {}


built_once = cache(built)
"""The function `built` with a cache, for sources that are needed many times."""


def baseline(task: Task) -> str:
    """Return the Python text that loads the task's baseline. A baseline in C is compiled without a sandbox."""
    return str(built_once(task, task.baseline).timed)


@contextmanager
def undefined_behaviour_reported() -> Iterator[None]:
    """In the `with` block, change the fault of a process that stopped at undefined behaviour: name the line in C."""
    try:
        yield
    except WorkerFault as fault:
        if not (found := _UNDEFINED.search(fault.printed)):
            raise
        line, what = found.groups()
        said = f"The C code has undefined behaviour: {what} (line {line} of the file)."
        where = fault.help.partition(". ")[0] + "." if fault.help.startswith(HAPPENED) else ""
        told = WorkerFault(Status.WRONG, said, where)
        told.printed = fault.printed
        raise told from None


def _fault(name: str, told: Mapping[str, Any]) -> WorkerFault | None:
    libraries = told.get("libraries")
    if isinstance(libraries, dict) and all(isinstance(libraries.get(kind), str) for kind in FLAGS):
        if all(len(libraries[kind]) <= MOST_LIBRARY_BYTES for kind in FLAGS):
            return None
        said = f"The library compiled from {name} is larger than {MOST_LIBRARY_BYTES >> 10} KiB."
        return WorkerFault(Status.REFUSED, said, "Compute large tables when they are first needed.")
    kind, line, message = str(told.get("fault")), told.get("line"), str(told.get("message", ""))
    where = f" (line {line} of the file)" if isinstance(line, int) else ""
    if kind == "compiler":
        return _complaint(name, message)
    if kind == "time":
        said = f"The C source in {name} took more than {message} to compile."
        help_text = "Code written by hand compiles within a second. Look for a macro that expands to a very long text."
        return WorkerFault(Status.TIMED_OUT, said, help_text)
    if kind == "syntax":
        return WorkerFault(Status.REFUSED, f"{NOT_PYTHON} {message[:200]}{where}.", "Correct this line.")
    if kind in {"missing", "no string"}:
        said = f"The file must assign the whole C source as a string to {name}{where}."
        help_text = "Assign it as the exercise file does. The file's Python code is not run."
        return WorkerFault(Status.REFUSED, said, help_text)
    said = f"The compiler was ended while it worked on {name}, probably because it used too much memory."
    return WorkerFault(Status.OUT_OF_MEMORY, said, "Look for a very large array or a macro that becomes very long.")


def _complaint(name: str, said: str) -> WorkerFault:
    errors = _ERROR.findall(said)
    if errors and errors[0][1].startswith("#error"):
        line, words = errors[0]
        reason = words.removeprefix("#error").strip().strip('"')
        return WorkerFault(Status.REFUSED, f"{name} is still the stub (line {line} of the file). {reason}", NOT_WRITTEN)
    told = [f"{message} (line {line} of the file)" for line, message in errors]
    told = told or [line.strip() for line in said.splitlines() if not _NOISE.search(line)]
    told = told or ["the compiler gives no reason"]
    lines = [f"The C source in {name} does not compile: {told[0][:300]}.", *(f"  {each[:300]}" for each in told[1:])]
    return WorkerFault(Status.REFUSED, "\n".join(lines[:3]), "Begin with the first error.")
