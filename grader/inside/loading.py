"""A submission's text as a module and as a file, and what to tell of an exception in it.

It runs in the sandbox beside the worker: standard library alone.
"""

import contextlib
import hashlib
import linecache
import sys
import traceback
import types
from pathlib import Path
from typing import Any

FILE_NAME = "submission.py"
CHAIN = 16
"""Exceptions, each raised for another, that are looked through for the first."""

FIRST_FRAMES, LAST_FRAMES = 3, 5
"""Of a long traceback, such as that of an endless recursion, only these are told."""


class MissingError(Exception):
    """The submission has no function of the name asked for."""


def prepared(source: str, folder: str) -> tuple[types.ModuleType, str]:
    """A fresh module for a source text, and the path under which the text lies in `folder`. Nothing has run yet."""
    file = laid_down(source, folder)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = types.ModuleType("submission")
    module.__file__ = file
    sys.modules["submission"] = module
    return module, file


def execute(source: str, module: types.ModuleType) -> None:
    """Run the text in its module. Raises whatever it raises."""
    exec(compile(source, str(module.__file__), "exec"), module.__dict__)  # noqa: S102 - that is what a worker is for


def laid_down(source: str, folder: str) -> str:
    """Lay a source down as a file, in a folder of its own, and return its path.

    Nothing is ever read from it. It is there for what keeps caches by a source's file and beside it
    (`numba.njit(cache=True)`): such a cache is this tree's alone, and two sources never share one. A submission that
    has filled its disk goes without.
    """
    data = source.encode(errors="replace")
    path = Path(folder, hashlib.sha256(data).hexdigest()[:16], FILE_NAME)
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
    return str(path)


def raised(error: BaseException, file: str) -> dict[str, Any]:
    """What to tell of an exception: its type, its message, and the lines of the submission's `file` that led to it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    line = frames[-1].lineno if frames else getattr(error, "lineno", None)
    own = bool(frames) and (frames[-1].line or "").startswith("raise ")  # torch raises NotImplementedError too
    kind = type(error)
    memory = isinstance(error, MemoryError) or "can't allocate memory" in str(error)
    return {
        "type": kind.__name__,
        "message": (str(error.msg) if isinstance(error, SyntaxError) else str(error))[:2000]
        .encode(errors="replace")
        .decode(),
        "line": line if isinstance(line, int) else None,
        "frames": told(frames),
        "memory": memory,
        "not_written": isinstance(error, NotImplementedError) and own,
        "syntax": isinstance(error, SyntaxError),
        "missing": isinstance(error, MissingError),
        "errno": root_errno(error),
    }


def told(frames: list[traceback.FrameSummary]) -> list[list[Any]]:
    """Return the frames to tell, the outermost first: line number, function and text of the line."""
    if len(frames) > FIRST_FRAMES + LAST_FRAMES:
        frames = frames[:FIRST_FRAMES] + frames[-LAST_FRAMES:]
    lines = [(frame.lineno, frame.name, (frame.line or "")[:200]) for frame in frames]
    return [[number, *(text.encode(errors="replace").decode() for text in texts)] for number, *texts in lines]


def root_errno(error: BaseException) -> int | None:
    """The number of the system's refusal that an exception is, or was raised for: libraries wrap it in their own."""
    at: BaseException | None = error
    for _ in range(CHAIN):  # a chain may be a ring
        if at is None or isinstance(at, OSError):
            break
        at = at.__cause__ or at.__context__
    return at.errno if isinstance(at, OSError) else None
