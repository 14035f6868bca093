"""Measure the resident memory after each line of a script's functions, in another process, with memory_profiler.

memory_profiler prints its table among the output of the script, mixes the lines of threads and of functions that call
each other, and sees no generator. So this module traces the lines, and memory_profiler's `CodeMap` measures them. A
line misses memory that it allocates and frees again.
"""

import atexit
import builtins
import linecache
import os
import runpy
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

from harness.errors import UsageError
from harness.processes.channel import Closed, Late, stdio_channel
from harness.processes.launcher import KIT, Child
from harness.profiles.stats import TIMEOUT_S, ending, expanded, write_script

MIB: Final = 1 << 20
_MOST_CHARACTERS: Final = 300  # of an error of the script

_INNER: Final = ("__wrapped__", "__func__", "func", "fget", "fset", "fdel")
"""The attributes in which a decorator, a method, a partial function or a property has the functions below it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a profiled function.

    `resident_bytes` is the resident memory of the process after the line, `more_bytes` the increase by the line. They
    are None if the line never ran. The first line of a function has the memory of the whole process as its increase.
    """

    number: int
    text: str
    resident_bytes: float | None = None
    more_bytes: float | None = None


def line_table(script: str | Path, *, timeout_s: float = TIMEOUT_S) -> tuple[Line, ...]:
    """Run a script, its text or its file, and return the lines of its functions with the decorator `@profile`.

    The memory is that of the whole process, also during the lines of other threads. Raise `UsageError` if the script
    fails, ends its process, takes longer than `timeout_s` seconds, or calls no such function itself.
    """
    with tempfile.TemporaryDirectory(prefix="fairclock-lines-") as folder:
        path = expanded(script).absolute() if isinstance(script, Path) else Path(folder, "script.py")
        if isinstance(script, str):
            write_script(path, script)
        places = os.pathsep.join([str(KIT), *filter(None, [os.environ.get("PYTHONPATH")])])
        command = [sys.executable, "-P", "-m", "harness.memory.lines", str(path)]
        with Child(command, {**os.environ, "PYTHONPATH": places}) as child:
            try:
                _, answer = child.receive(timeout_s)
            except Late:
                raise UsageError(f"The script ran longer than {timeout_s:g} s; profile a shorter script.") from None
            except Closed:
                how = ending(child.exit_status())
                raise UsageError(f"The process of the script ended too early, with {how}.") from None
    if answer["error"]:
        raise UsageError(answer["error"])
    return tuple(Line(*row) for row in answer["rows"])


class LineTrace:
    """The decorator `profile` of a script, and the trace of the lines of all functions that it has decorated."""

    def __init__(self, code_map: Any) -> None:
        self._code_map, self._last, self._lock = code_map, dict[int, int](), threading.RLock()

    def profile(self, function: object = None, **_: object) -> Any:
        """Trace the lines of a function from now on, and return the function itself. Options change nothing."""
        if function is None:
            return self.profile
        codes = [] if isinstance(function, type) else [each.__code__ for each in _functions(function)]
        for code in codes:
            self._code_map.add(code)
        if not codes or not all(code in self._code_map for code in codes):
            raise TypeError(f"@profile decorates functions that are written in Python, in a file, not {function!r}")
        return function

    def on_call(self, frame: FrameType, _event: str, _argument: object) -> Callable[..., Any] | None:
        """Return the trace function of a frame that begins or goes on, or None. Arguments as in `sys.settrace`."""
        if frame.f_code not in self._code_map:
            return None
        return frame.f_trace if isinstance(frame.f_trace, TracedFrame) else TracedFrame(self, frame.f_lineno)

    def measure(self, code: CodeType, line: int) -> None:
        """Add the memory after a line to the table of its function."""
        with self._lock:
            self._code_map.trace(code, line, self._last.get(id(self._code_map[code])))
            self._last[id(self._code_map[code])] = line

    def rows(self) -> list[tuple[object, ...]]:
        """Return the fields of each `Line`, function after function."""
        return [
            (number, text.rstrip(), *((seen[1] * MIB, seen[0] * MIB) if seen else ()))
            for file, lines in self._code_map.items()
            for number, seen in lines
            if (text := linecache.getline(file, number))
        ]


@dataclass(slots=True)
class TracedFrame:
    """The trace function of one frame, and the line that it executes."""

    lines: LineTrace
    line: int

    def __call__(self, frame: FrameType, event: str, _argument: object) -> "TracedFrame":
        """Measure the line that ends now."""
        if event in {"line", "return"}:
            self.lines.measure(frame.f_code, self.line)
            self.line = frame.f_lineno
        return self


def _functions(decorated: object) -> Iterator[FunctionType]:
    """Yield the innermost functions that are written in Python below decorators, methods, partials and properties."""
    inner = [each for name in _INNER if (part := getattr(decorated, name, None)) for each in _functions(part)]
    yield from inner or ([decorated] if isinstance(decorated, FunctionType) else [])


def main() -> None:
    """Run the script that the command line names, and send its table to the other process when its threads have ended.

    A thread may still run a profiled function after the last line of the script.
    """
    import memory_profiler  # noqa: PLC0415 - only this process needs it

    channel, path, pid, error = stdio_channel(), sys.argv.pop(), os.getpid(), [""]
    trace = LineTrace(memory_profiler.CodeMap(include_children=False, backend="psutil"))

    def answer() -> None:
        sys.settrace(None)
        rows = [] if error[0] else trace.rows()
        if not (rows or error[0]):
            error[0] = "The script has no profiled function: decorate a function with @profile, and call it."
        if os.getpid() == pid:  # a process that the script has forked has its own memory
            channel.send(b"a", {"error": error[0], "rows": rows})

    atexit.register(answer)
    sys.path.insert(0, str(Path(path).parent))
    vars(builtins)["profile"] = memory_profiler.profile = trace.profile
    if sys.platform != "win32":
        os.register_at_fork(after_in_child=lambda: sys.settrace(None))
    threading.settrace(trace.on_call)
    sys.settrace(trace.on_call)
    error[0] = _error_of(lambda: runpy.run_path(path, run_name="__main__"))
    if sys.gettrace() != trace.on_call:
        error[0] = error[0] or "The script sets a trace of its own, as a debugger does; remove it."


def _error_of(run: Callable[[], object]) -> str:
    """Return the sentence for an error of the script, or "" if it ends without."""
    try:
        run()
    except SystemExit as end:
        return f"The script ended with sys.exit({end.code!r})." if end.code else ""
    except BaseException as error:  # noqa: BLE001 - also a KeyboardInterrupt of the script
        words = " ".join("".join(traceback.format_exception_only(type(error), error)[-1:]).split())
        return f"The script failed: {words[:_MOST_CHARACTERS]}."
    return ""


if __name__ == "__main__":
    main()
