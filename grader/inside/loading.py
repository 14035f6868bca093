"""Load a submission's text as a module, and describe its exceptions for the grader.

This file runs in the sandbox and imports only the standard library.
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
"""`root_errno` examines at most this many exceptions of a chain (`raise … from …`)."""

FIRST_FRAMES, LAST_FRAMES = 3, 5
"""A report of an exception keeps this many first and last frames of a long traceback."""


class MissingError(Exception):
    """The submission does not define the function that the grader calls."""


def new_module(source: str, folder: str) -> tuple[types.ModuleType, str]:
    """Return an empty module for a source text, and the path of its file, in a folder of its own in `folder`.

    Libraries such as numba need the file to keep a cache beside it. The grader never reads the file. If the disk is
    full, no file is written.
    """
    data = source.encode(errors="replace")
    path = Path(folder, hashlib.sha256(data).hexdigest()[:16], FILE_NAME)
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        with path.open("xb") as opened:
            opened.write(data)
    file = str(path)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = sys.modules["submission"] = types.ModuleType("submission")
    module.__file__ = file
    return module, file


def execute(source: str, module: types.ModuleType) -> None:
    """Run a source text in the namespace of a module. Exceptions of the source text are not caught."""
    exec(compile(source, str(module.__file__), "exec"), module.__dict__)  # noqa: S102 - a worker runs submissions


def error_report(error: BaseException, file: str) -> dict[str, Any]:
    """Return a dict that describes an exception: its type, message, and traceback lines in the submission's `file`."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    line = frames[-1].lineno if frames else getattr(error, "lineno", None)
    own = bool(frames) and (frames[-1].line or "").startswith("raise ")  # torch raises NotImplementedError too
    message = str(error.msg) if isinstance(error, SyntaxError) else str(error)
    return {
        "type": type(error).__name__,
        "message": _unicode(message[:2000]),
        "line": line if isinstance(line, int) else None,
        "frames": reported_frames(frames),
        "memory": isinstance(error, MemoryError) or "can't allocate memory" in str(error),
        "not_written": isinstance(error, NotImplementedError) and own,
        "syntax": isinstance(error, SyntaxError),
        "missing": isinstance(error, MissingError),
        "errno": root_errno(error),
    }


def reported_frames(frames: list[traceback.FrameSummary]) -> list[list[Any]]:
    """Return the line number, function and source line of each frame to report, with the outermost frame first."""
    if len(frames) > FIRST_FRAMES + LAST_FRAMES:
        frames = frames[:FIRST_FRAMES] + frames[-LAST_FRAMES:]
    return [[frame.lineno, _unicode(frame.name), _unicode((frame.line or "")[:200])] for frame in frames]


def _unicode(text: str) -> str:
    return text.encode(errors="replace").decode()


def root_errno(error: BaseException) -> int | None:
    """Return the errno of the `OSError` that caused an exception, or None if there is none.

    Libraries often raise another exception from an `OSError`, so the causes of the exception are examined too.
    """
    at: BaseException | None = error
    for _ in range(CHAIN):  # a chain of exceptions may lead back to itself
        if at is None or isinstance(at, OSError):
            break
        at = at.__cause__ or at.__context__
    return at.errno if isinstance(at, OSError) else None
