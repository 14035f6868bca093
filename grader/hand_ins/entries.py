"""Read what is below a folder, and what is in a zip, in the same way: as entries with a path, a kind and bytes.

Files of tools and systems, such as `.venv` or `__MACOSX`, are ignored and counted.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import IO, Final

from grader.course.dates import from_timestamp
from grader.files import file_name
from grader.hand_ins.refusal import Refusal

MAX_FILES: Final = 50_000
"""The maximum number of files in one hand-in, without the files of tools and systems."""

_CHUNK: Final = 1_000_000
_COUNTED: Final = 100_000  # the maximum number of ignored files that are counted in a folder
_TOOLS: Final = frozenset(
    {"__MACOSX", "__pycache__", "node_modules", "site-packages", "venv", "Thumbs.db", "desktop.ini"}
)
_OF_WINDOWS: Final = re.compile(r".+[:_.]Zone\.Identifier(:\$DATA)?", re.DOTALL)
_CHECKPOINT: Final = re.compile(r".+-checkpoint\.(py|ipynb)")
VENV: Final = "pyvenv.cfg"
"""The file that marks a folder as a virtual environment of Python."""


class Kind(StrEnum):
    """The kind of an entry. A device, a pipe and a folder that cannot be listed are of the kind OTHER."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


def _no_bytes() -> IO[bytes]:
    raise Refusal("This is not a plain file; hand in the file itself.")


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A file, folder, link or device below a folder or in a zip.

    `path` is relative to this folder or zip, and `shown` is the path in reports. `open` returns the file's bytes as a
    stream, or raises `Refusal` or `OSError`. `modified` is the time of a file on this machine, or None in a zip.
    """

    path: tuple[str, ...]
    shown: str
    kind: Kind
    open: Callable[[], AbstractContextManager[IO[bytes]]] = _no_bytes
    size: int = 0
    modified: datetime | None = None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path[-1]

    def read(self, limit: int, *, cut: bool = False) -> bytes:
        """Return the bytes. If they are more than `limit`, raise `Refusal`, or with `cut` return only the first."""
        data = bytearray()
        with self.open() as file:
            while len(data) <= limit and (chunk := file.read(min(_CHUNK, limit + 1 - len(data)))):
                data += chunk
        if len(data) > limit and not cut:
            raise Refusal(f"{self.shown} is larger than {limit:,} bytes; hand in only the exercise.")
        return bytes(data[:limit])


def is_junk(name: str) -> bool:
    """Return whether a file or folder name is one that systems, editors or tools make, such as `.DS_Store`."""
    made = name in _TOOLS or name.startswith((".", "~$")) or name.endswith("~")
    return bool(made or _OF_WINDOWS.fullmatch(name) or _CHECKPOINT.fullmatch(name))


def below(folder: Path, shown: str, ignored: Counter[str]) -> Iterator[FolderEntry]:
    """Yield everything below a folder, sorted by path in each folder. Count what is ignored, by name, in `ignored`.

    Raise `OSError` if the folder cannot be listed, and `Refusal` if it has more than `MAX_FILES` files.
    """
    home, seen = Path(os.path.realpath(folder)), 0
    pending: list[tuple[Path, tuple[str, ...]]] = [(folder, ())]
    while pending:
        place, above = pending.pop()
        try:
            names = sorted(one.name for one in place.iterdir())
        except PermissionError:
            if not above:
                raise
            yield FolderEntry(above, "/".join((shown, *above)), Kind.OTHER)
            continue
        if VENV in names and above:
            ignored[above[-1]] += _count(place)
            continue
        folders = []
        for name in names:
            path, plain = place / name, file_name(name)
            if is_junk(plain):
                ignored[plain] += _count(path)
                continue
            seen += 1
            if seen > MAX_FILES:
                raise Refusal(f"{shown} contains more than {MAX_FILES:,} files; hand in only the exercises.")
            one = on_disk(path, home, (*above, plain), "/".join((shown, *above, plain)))
            folders += [(path, one.path)] * (one.kind is Kind.FOLDER)
            yield one
        pending += reversed(folders)


def on_disk(path: Path, home: Path, parts: tuple[str, ...], shown: str) -> FolderEntry:
    """Return the entry for a path on this machine. Its bytes must be in the folder `home`, or they are refused."""

    def opened() -> IO[bytes]:
        real = Path(os.path.realpath(path, strict=True))
        if not real.is_relative_to(home):
            raise Refusal(f"{shown} is a link that leads out of its folder; hand in the file itself.")
        if real.is_dir():
            raise Refusal(f"{shown} is a folder; hand in a file of that name.")
        if not real.is_file():
            raise Refusal(f"{shown} is not a plain file; hand in the file itself.")
        return real.open("rb")

    about = path.lstat()
    is_plain = Kind.FILE if path.is_file() else Kind.OTHER
    kind = Kind.LINK if path.is_symlink() else Kind.FOLDER if path.is_dir() else is_plain
    return FolderEntry(parts, shown, kind, opened, about.st_size, from_timestamp(about.st_mtime))


def _count(path: Path) -> int:
    if path.is_symlink() or not path.is_dir():
        return 1
    return sum(1 for _ in islice((name for *_, names in os.walk(path) for name in names), _COUNTED))


def summary(ignored: Counter[str]) -> str:
    """Return the names and counts of ignored files as text, such as ".venv (900), __MACOSX (2)"."""
    few: Sequence[tuple[str, int]] = ignored.most_common(5)
    rest = ignored.total() - sum(count for _, count in few)
    return ", ".join([*(f"{name} ({count:,})" for name, count in few), *([f"others ({rest:,})"] if rest else [])])
