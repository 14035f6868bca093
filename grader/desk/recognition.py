"""Find a student's exercise files under any name, and recognise the lesson of each file by what is in it."""

import ast
import json
import os
import re
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final

from grader import catalogue, paths
from grader.hand_ins.attempts import READERS
from grader.hand_ins.entries import VENV, is_junk
from grader.hand_ins.left_out import folded, likely_lesson
from grader.hand_ins.refusal import UTF_16
from harness import syntax
from harness.storage.notebook_files import stamp_of

_Parameters = dict[str, tuple[str, ...] | None]

LESSON: Final = "lesson"
"""The key of an exercise notebook's lesson in its stamp."""

_MOST_DEEP, _MOST_ENTRIES, _MOST_READ, _MOST_BYTES = 6, 10_000, 500, 100_000_000
"""The bounds of a search: levels of folders, listed files and folders, read files, and bytes in these files."""

_OF_KIT: Final = frozenset({"grader", "harness", "solutions", "tests", "engine", "recorded"})
_DEFINITION: Final = re.compile(r"^(?:async +)?def +(\w+) *\(", re.MULTILINE)


def suffix_of(path: Path) -> str:
    """Return ".py" or ".ipynb" in lower case, or "" for a file that is neither."""
    suffix = path.suffix.casefold()
    return suffix if suffix in READERS else ""


def files_below(roots: Sequence[Path]) -> Iterator[tuple[Path, bytes]]:
    """Yield each Python file and notebook in and below these folders with its content, the nearest first.

    Skip the files of the kit, of tools and of systems, and unreadable folders. A folder that contains the home folder
    or the folder of temporary files is not searched below. The content of a file that is too large or cannot be read is
    empty.
    """
    read, size, seen = 0, 0, set[str]()
    for path in _paths_below(roots):
        data = b""
        with suppress(OSError):
            if (real := os.path.realpath(path)) in seen or not path.is_file():
                continue
            seen.add(real)
            data = b"" if path.stat().st_size > READERS[suffix_of(path)][0] else path.read_bytes()
        read, size = read + 1, size + len(data)
        yield path, data
        if read > _MOST_READ or size > _MOST_BYTES:
            return


def _paths_below(roots: Sequence[Path]) -> Iterator[Path]:
    seen, left = set[str](), _MOST_ENTRIES
    shared = [os.path.realpath(each) for each in (Path.home(), tempfile.gettempdir())]
    for root in roots:
        is_broad = any(Path(each).is_relative_to(os.path.realpath(root)) for each in shared)
        pending = deque([(root, _MOST_DEEP if is_broad else 0)])
        while pending and left > 0:
            folder, depth = pending.popleft()
            if (real := os.path.realpath(folder)) in seen:
                continue
            seen.add(real)
            try:
                with os.scandir(folder) as entries:
                    names = sorted(islice((one.name for one in entries), left))
            except OSError:
                continue
            left -= len(names)
            is_lessons = "lessons.toml" in names
            skipped = _OF_KIT if is_lessons or {"lessons", "grader"} <= set(names) else ()
            scripts = catalogue.load().lessons if is_lessons else ()
            for path in sorted((folder / name for name in names), key=lambda path: (path.stem, path.suffix != ".py")):
                if VENV in names or path.name in skipped or path.stem in scripts or is_junk(path.name):
                    continue
                if suffix_of(path):
                    yield path
                elif depth < _MOST_DEEP and os.path.isdir(path):  # noqa: PTH112 - Path.is_dir may raise an exception
                    pending.append((path, depth + 1))


def lessons_of(path: Path, data: bytes, *, every: bool = False) -> tuple[str, ...]:
    """Return the lesson of a file with the content `data`, several if that is unclear, or () if there is none.

    A file with the name of an exercise is that exercise. Otherwise the functions decide: their names and parameters
    are those of the exercise. A notebook's metadata and the name of the file decide between several: their lesson is
    the only one, or with `every` the first one.
    """
    lessons, stem = catalogue.load().lessons, folded(path.stem)
    if stem in lessons or not data:
        return (stem,) if stem in lessons else ()
    texts, stamped = [data.decode("utf-16" if UTF_16.match(data) else "utf-8", "replace")], ""
    if suffix_of(path) == ".ipynb":
        stamped, texts = stamp_of(data, LESSON), _cells(texts[0])
    defined = _defined(texts)
    named = [
        likely_lesson(path.name, [lesson for lesson in lessons if defined and _functions(lesson).keys() & defined])
    ]
    written = [lesson for lesson in lessons if defined and _is_in(defined, _functions(lesson))]
    hints = [lesson for lesson in (stamped, *named) if lesson in (written or lessons)]
    return tuple(dict.fromkeys((*hints[:1], *written))) if every else tuple(hints[:1] or written)


def _is_in(defined: _Parameters, functions: _Parameters) -> bool:
    return any(
        None in (pair := {functions[name], defined[name]}) or len(pair) == 1 for name in functions.keys() & defined
    )


@cache
def _functions(lesson: str) -> _Parameters:
    text = ""
    with suppress(OSError):
        text = paths.stub(lesson).read_text(encoding="utf-8", errors="replace")
    defined, tasks = _defined([text]), catalogue.load().tasks(lesson)  # `functions` of a task takes 20 ms
    names = [name for task in tasks for name in ([task.name] if task.name in defined else task.functions)]
    return {name: defined.get(name) for name in names}


def _defined(texts: Sequence[str]) -> _Parameters:
    found: _Parameters = {}
    for text in texts:
        if names := _DEFINITION.findall(text):
            try:
                body = syntax.parse(text).body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                found |= dict.fromkeys(names)
                continue
            for node in body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    found[node.name] = tuple(each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg))
    return found


def _cells(text: str) -> list[str]:
    try:
        return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
