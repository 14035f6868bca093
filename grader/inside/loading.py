"""Load a submission's text as a module, and describe its exceptions for the grader.

This file runs in the sandbox and imports only the standard library.
"""

import contextlib
import hashlib
import linecache
import os
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILE_NAME = "submission.py"
CHAIN = 16
"""`root_errno` examines at most this many exceptions of a chain (`raise … from …`)."""

FIRST_FRAMES, LAST_FRAMES = 3, 5
"""A report of an exception keeps this many first and last frames of a long traceback."""
EXCERPT = 200
"""A report of a syntax error has at most this many characters of the line before the error, and after it."""
_NAME = vars(type)["__name__"].__get__
_TRACEBACK = vars(BaseException)["__traceback__"].__get__


class MissingError(Exception):
    """The submission does not define the function that the grader calls."""


def new_module(source: str, folder: str) -> tuple[types.ModuleType, str]:
    """Return an empty module for a source text, and the path of its file, in a folder of its own in `folder`.

    The folder becomes the working directory, so that the submission may write files there, such as a log or a plot.
    Libraries such as numba need the file to keep a cache beside it. The grader never reads the file. If the disk is
    full, no file is written.
    """
    data = source.encode(errors="replace")
    path = Path(folder, hashlib.sha256(data).hexdigest()[:16], FILE_NAME)
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        os.chdir(path.parent)
        with path.open("xb") as opened:
            opened.write(data)
    file = str(path)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = sys.modules["submission"] = types.ModuleType("submission")
    module.__file__ = file
    return module, file


def execute(source: str, module: types.ModuleType) -> None:
    """Run a source text in the namespace of a module. Exceptions of the source text are not caught."""
    try:
        code = compile(source, str(module.__file__), "exec")
    except SyntaxError:  # with a file, the compiler reads the line again, in a buffer that cuts long lines
        code = compile(source, "<file>", "exec")
    exec(code, module.__dict__)  # noqa: S102 - a worker runs submissions


def error_report(error: BaseException, file: str) -> dict[str, Any]:
    """Return a dict that describes an exception: its type, message, and traceback lines in the submission's `file`.

    The submission may have defined the exception, so each of its attributes may raise or have any value.
    """
    kind, message = type(error), _message(error)
    said = {
        "type": type_name(error),
        "message": message,
        "memory": issubclass(kind, MemoryError) or "can't allocate memory" in message,
        "missing": kind is MissingError,
    }
    return said | _answer(lambda: _places(error, file)) | _answer(lambda: {"errno": root_errno(error)})


def _places(error: BaseException, file: str) -> dict[str, Any]:
    frames = [frame for frame in traceback.extract_tb(_TRACEBACK(error)) if frame.filename == file]
    if isinstance(error, SyntaxError) and not frames:  # in this file, not in a text that it compiles
        return _excerpt(error, file)
    line = frames[-1].lineno if frames else getattr(error, "lineno", None)
    own = bool(frames) and (frames[-1].line or "").startswith("raise ")  # torch raises NotImplementedError too
    return {
        "line": _number(line),
        "frames": reported_frames(frames),
        "not_written": issubclass(type(error), NotImplementedError) and own,
    }


def _excerpt(error: SyntaxError, file: str) -> dict[str, Any]:
    """Return the line of a syntax error: its number, its text near the error, and the index of the error in the text.

    The compiler leaves out the text of an error that it finds only after parsing.
    """
    text = (error.text or linecache.getline(file, error.lineno or 0)).partition("\n")[0]
    at = min(max((error.offset or 0) - 1, 0), len(text))
    first = max(at - EXCERPT, 0)
    excerpt = _unicode(text[first : at + EXCERPT], 2 * EXCERPT)
    return {"syntax": True, "line": _number(error.lineno), "excerpt": excerpt, "caret": at - first}


def type_name(value: object) -> str:
    """Return the name of a value's type, even if the type's own type has another attribute of this name."""
    return _unicode(_NAME(type(value)), 200)


def _message(error: BaseException) -> str:
    try:
        return _unicode(str(getattr(error, "msg", "") if issubclass(type(error), SyntaxError) else error), 2000)
    except BaseException as fault:  # noqa: BLE001 - the submission may have defined `__str__`
        return f"(its text cannot be read, because that raises {type_name(fault)})"


def _answer(question: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the answer to a question, or {} if code of the submission raises anything meanwhile."""
    try:
        return question()
    except BaseException:  # noqa: BLE001 - SystemExit too
        return {}


def reported_frames(frames: list[traceback.FrameSummary]) -> list[list[Any]]:
    """Return the line number, function and source line of each frame to report, with the outermost frame first."""
    if len(frames) > FIRST_FRAMES + LAST_FRAMES:
        frames = frames[:FIRST_FRAMES] + frames[-LAST_FRAMES:]
    return [[frame.lineno, _unicode(frame.name, 200), _unicode(frame.line or "", 200)] for frame in frames]


def _unicode(text: str, most: int) -> str:
    """Return the first `most` characters of a text without lone surrogates. The text may have methods of its own."""
    return str.encode(str.__getitem__(text, slice(most)), errors="backslashreplace").decode()


def _number(value: object) -> int | None:
    return value if type(value) is int and value.bit_length() < 32 else None


def root_errno(error: BaseException) -> int | None:
    """Return the errno of the `OSError` that caused an exception, or None if there is none.

    Libraries often raise another exception from an `OSError`, so the causes of the exception are examined too.
    """
    at: BaseException | None = error
    for _ in range(CHAIN):  # a chain of exceptions may lead back to itself
        if at is None or isinstance(at, OSError):
            break
        at = at.__cause__ or at.__context__
    return _number(at.errno) if isinstance(at, OSError) else None
