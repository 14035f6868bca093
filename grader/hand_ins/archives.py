"""List and read the zips that students hand in, and what a class's folder holds, which may itself be a zip.

Nothing is ever unpacked to the disk. A whole zip is refused if it is damaged, or if an entry's path leads out of the
zip. A link, a device and a file with a password or with an unknown compression are only refused if they are read.
"""

import io
import os
import re
import stat
import struct
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from grader.files import file_name
from grader.hand_ins.entries import MAX_FILES, VENV, FolderEntry, Kind, below, is_junk, on_disk
from grader.hand_ins.refusal import Refusal, kind_of
from harness.errors import UsageError

MAX_ARCHIVE_BYTES: Final = 100_000_000
"""The maximum size of a zip in a zip."""

_MAX_DIRECTORY_BYTES: Final = 16_000_000  # the list of files at the end of a zip: about 200,000 files
_MAX_DEPTH: Final = 60
_COMPRESSIONS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})  # an LZMA dictionary may need gigabytes
_ENCRYPTED: Final = 0x1
_UTF_8: Final = 0x800
_DRIVE: Final = re.compile(r"\A[A-Za-z]:(?=/)")
_AGAIN: Final = "make a new one with `fairclock submit`."
# What zipfile raises for bytes that are not a valid zip.
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, OverflowError, RuntimeError, ValueError)


def is_zip(name: str) -> bool:
    """Return whether a file name is that of a zip."""
    return name.casefold().endswith(".zip")


@dataclass(frozen=True, slots=True)
class Item:
    """A file or folder directly in a class's folder.

    `below` yields what is in the folder, and counts ignored files in its argument. `items` returns what a folder in a
    zip holds, as items of a class's folder. `is_clone` is whether it is a clone of a Git repository.
    """

    entry: FolderEntry
    below: Callable[[Counter[str]], Iterable[FolderEntry]] = lambda _: ()
    items: Callable[[], Mapping[str, "Item"]] = dict
    is_clone: bool = False

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.entry.kind is Kind.FOLDER


@dataclass(frozen=True, slots=True)
class Zip:
    """An open zip, or a folder in it. `shown` is its path in reports. `named` has the paths of its entries."""

    archive: zipfile.ZipFile
    shown: str
    named: list[tuple[tuple[str, ...], zipfile.ZipInfo]] = field(default_factory=list)

    def entries(self, ignored: Counter[str]) -> Iterator[FolderEntry]:
        """Yield what the zip or folder has. Count what is ignored, by name, in `ignored`."""
        venvs = {path[:-1] for path, _ in self.named if path[-1] == VENV and len(path) > 1}
        seen = 0
        for path, info in self.named:
            junk = next((part for part in path if is_junk(part)), "")
            junk = junk or next((path[n - 1] for n in range(1, len(path)) if path[:n] in venvs), "")
            if junk or len(path) > _MAX_DEPTH:
                ignored[junk or "deep folders"] += not info.is_dir()
                continue
            seen += 1
            if seen > MAX_FILES:
                raise Refusal(f"The zip {self.shown} contains more than {MAX_FILES:,} files; {_AGAIN}")
            yield self._entry(path, "/".join((self.shown, *path)), info)

    def items(self) -> Mapping[str, Item]:
        """Return what the zip or folder holds directly, as the items of a class's folder."""
        inside: dict[str, list[tuple[tuple[str, ...], zipfile.ZipInfo]]] = {}
        for (name, *path), info in self.named:
            inside.setdefault(name, []).append((tuple(path), info))
        return {name: self._item(name, found) for name, found in sorted(inside.items())}

    def _item(self, name: str, found: list[tuple[tuple[str, ...], zipfile.ZipInfo]]) -> Item:
        for path, info in found:
            if not path and not info.is_dir():
                return Item(self._entry((name,), name, info))
        folder = Zip(self.archive, name, [one for one in found if one[0]])
        is_clone = any(path[0] == ".git" for path, _ in folder.named)
        return Item(FolderEntry((name,), name, Kind.FOLDER), folder.entries, folder.items, is_clone)

    def _entry(self, path: tuple[str, ...], shown: str, info: zipfile.ZipInfo) -> FolderEntry:
        unix = stat.S_IFMT(info.external_attr >> 16)  # Unix mode in the upper half; 0 from other systems
        kinds = {stat.S_IFLNK: Kind.LINK, stat.S_IFDIR: Kind.FOLDER, 0: Kind.FILE, stat.S_IFREG: Kind.FILE}
        kind = Kind.FOLDER if info.is_dir() else kinds.get(unix, Kind.OTHER)

        @contextmanager
        def opened() -> Iterator[IO[bytes]]:
            if kind in {Kind.LINK, Kind.OTHER}:
                raise Refusal(f"{shown} is a link or device; hand in the file itself.")
            if info.flag_bits & _ENCRYPTED:
                raise Refusal(f"{shown} is protected by a password; {_AGAIN}")
            if info.compress_type not in _COMPRESSIONS:
                raise Refusal(f"{shown} has a compression method that the grader does not support; {_AGAIN}")
            with _explained(shown), self.archive.open(info) as file:
                yield file  # zipfile checks the CRC, and reads no more than the declared size

        return FolderEntry(path, shown, kind, opened, info.file_size)


@contextmanager
def _explained(shown: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGE:
        raise Refusal(f"The zip {shown} is damaged, or of a kind that cannot be read; {_AGAIN}") from None


class _Bounded(io.RawIOBase):
    """A stream that refuses to read very much at once, which zipfile does only for the list of files of a zip."""

    def __init__(self, file: IO[bytes], shown: str) -> None:
        super().__init__()
        self._file, self._shown = file, shown
        self.seek, self.tell = file.seek, file.tell  # type: ignore[method-assign]

    def read(self, size: int = -1) -> bytes:
        if size > _MAX_DIRECTORY_BYTES:
            raise Refusal(f"The zip {self._shown} contains more than {MAX_FILES:,} files; {_AGAIN}")
        return self._file.read(size)

    def seekable(self) -> bool:
        return True


@contextmanager
def opened(file: IO[bytes], shown: str) -> Iterator[Zip]:
    """Open the zip in a stream. Raise `Refusal`, and no other exception, if the zip is damaged or malicious."""
    if what := kind_of(file.read(8)):
        raise Refusal(f"{shown} is {what} and not a zip; {_AGAIN}")
    with _explained(shown), warnings.catch_warnings(action="ignore"):
        archive = zipfile.ZipFile(_Bounded(file, shown))
    with archive:
        yield Zip(archive, shown, [(path, info) for info in archive.infolist() if (path := _path(info, shown))])


def copy_of(entry: FolderEntry) -> IO[bytes]:
    """Return the bytes of a zip in a zip as a stream. Raise `Refusal` if they are more than `MAX_ARCHIVE_BYTES`."""
    return io.BytesIO(entry.read(MAX_ARCHIVE_BYTES))


def _path(info: zipfile.ZipInfo, shown: str) -> tuple[str, ...]:
    paths = []
    for name in (info.orig_filename, info.filename):  # an extra field may hold a second name (Python 3.12)
        if not info.flag_bits & _UTF_8:
            with suppress(UnicodeError):  # macOS writes UTF-8 without saying so
                name = name.encode("cp437").decode()  # noqa: PLW2901
        parts: list[str] = []
        for part in _DRIVE.sub("", name.replace("\\", "/"), count=1).split("/"):
            if (part == ".." and not parts) or "\0" in part:
                raise Refusal(f"The zip {shown} contains a path that leads out of it ({name[:60]!a}); {_AGAIN}")
            parts[len(parts) - (part == "..") :] = [part] * (part not in {"", ".", ".."})
        paths.append(tuple(parts))
    return paths[-1]


@contextmanager
def of_class(folder: Path) -> Iterator[Mapping[str, Item]]:
    """Yield what a folder or zip of hand-ins holds, by name. Raise `UsageError` if it cannot be read."""
    if folder.is_file() and is_zip(folder.name):
        with folder.open("rb") as file:
            try:
                with opened(file, folder.name) as whole:
                    yield whole.items()
            except Refusal as refusal:
                why = str(refusal).partition("; ")[0]
                raise UsageError(f"{folder} cannot be read. {why}; zip the class folder again.") from None
        return
    try:
        root = Path(os.path.realpath(folder))
        paths = ((file_name(path.name), path) for path in sorted(folder.iterdir()))
        items = {name: _on_disk(path, root, name) for name, path in paths}
    except OSError as fault:
        why = f"{folder} cannot be read ({fault.strerror})"
        raise UsageError(f"{why}; give the folder that contains one folder or zip for each student.") from None
    yield items


def _on_disk(path: Path, root: Path, name: str) -> Item:
    entry = on_disk(path, root, (name,), name)
    return Item(entry, lambda ignored: below(path, name, ignored), is_clone=os.access(path / ".git", os.F_OK))
