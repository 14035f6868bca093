"""Read zip archives that students hand in, in memory. Nothing is ever unpacked to the disk.

A whole zip is refused if it is damaged, or if an entry's path leads out of the zip. A link, a device and a file with a
password or with an unknown compression are only refused if they are read, and then by name.
"""

import io
import re
import stat
import struct
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Final, cast

from grader.hand_ins.entries import MAX_FILES, VENV, FolderEntry, Kind, is_junk
from grader.hand_ins.refusal import Refusal

MAX_ARCHIVE_BYTES: Final = 20_000_000
"""The maximum size of a zip in a zip. It is two uncompressed notebooks of the maximum size."""

_MAX_DIRECTORY_BYTES: Final = 16_000_000  # the list of files at the end of a zip: about 200,000 files
_MAX_DEPTH: Final = 60
_COMPRESSIONS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})  # an LZMA dictionary may need gigabytes
_ENCRYPTED: Final = 0x1
_DRIVE: Final = re.compile(r"\A[A-Za-z]:(?=/)")
_AGAIN: Final = "make a new one with `python -m grader submit`."
# What zipfile raises for bytes that are not a valid zip.
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, OverflowError, RuntimeError, ValueError)


def is_zip(name: str) -> bool:
    """Return whether a file name is that of a zip."""
    return name.casefold().endswith(".zip")


@dataclass(frozen=True, slots=True)
class Zip:
    """An open zip. `shown` is its path in reports."""

    archive: zipfile.ZipFile
    shown: str
    named: list[tuple[tuple[str, ...], zipfile.ZipInfo]] = field(default_factory=list)

    def entries(self, ignored: Counter[str], top: tuple[str, ...] = ()) -> Iterator[FolderEntry]:
        """Yield what the zip has in its folder `top`. Count what is ignored, by name, in `ignored`."""
        venvs = {path[:-1] for path, _ in self.named if path[-1] == VENV and len(path) > 1}
        seen, start = 0, len(top)
        for path, info in self.named:
            if path[:start] != top or len(path) == start:
                continue
            inner = path[start:]
            junk = next((part for part in inner if is_junk(part)), "")
            junk = junk or next((path[n - 1] for n in range(start + 1, len(path)) if path[:n] in venvs), "")
            if junk or len(path) > _MAX_DEPTH:
                ignored[junk or "deep folders"] += not info.is_dir()
                continue
            seen += 1
            if seen > MAX_FILES:
                raise Refusal(f"The zip {self.shown} contains more than {MAX_FILES:,} files; {_AGAIN}")
            yield self._entry(inner, "/".join(filter(None, (self.shown, *path))), info)

    def _entry(self, path: tuple[str, ...], shown: str, info: zipfile.ZipInfo) -> FolderEntry:
        unix = stat.S_IFMT(info.external_attr >> 16)  # Unix mode in the upper half; 0 from other systems
        kinds = {stat.S_IFLNK: Kind.LINK, stat.S_IFDIR: Kind.FOLDER, 0: Kind.FILE, stat.S_IFREG: Kind.FILE}
        kind = Kind.FOLDER if info.is_dir() else kinds.get(unix, Kind.OTHER)

        def opened() -> IO[bytes]:
            if kind in {Kind.LINK, Kind.OTHER}:
                raise Refusal(f"{shown} is a link or device; hand in the file itself.")
            if info.flag_bits & _ENCRYPTED:
                raise Refusal(f"{shown} is protected by a password; {_AGAIN}")
            if info.compress_type not in _COMPRESSIONS:
                raise Refusal(f"{shown} has a compression method that the grader does not support; {_AGAIN}")
            with _explained(shown):
                return cast("IO[bytes]", _Member(self.archive.open(info), shown))

        return FolderEntry(path, shown, kind, opened, info.file_size)


@contextmanager
def _explained(shown: str) -> Iterator[None]:
    try:
        yield
    except NotImplementedError:
        raise Refusal(f"The zip {shown} uses a feature that the grader does not support; {_AGAIN}") from None
    except _DAMAGE:
        raise Refusal(f"The zip {shown} is damaged and cannot be read; {_AGAIN}") from None


class _Member(io.RawIOBase):
    """A file in a zip. Damage that is found while it is read raises a `Refusal`."""

    def __init__(self, file: IO[bytes], shown: str) -> None:
        super().__init__()
        self._file, self._shown = file, shown

    def read(self, size: int = -1) -> bytes:
        with _explained(self._shown):
            return self._file.read(size)  # zipfile checks the CRC, and reads no more than the declared size

    def close(self) -> None:
        self._file.close()
        super().close()


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
    with _explained(shown), warnings.catch_warnings(action="ignore"):
        archive = zipfile.ZipFile(_Bounded(file, shown))
    with archive:
        yield Zip(archive, shown, [(path, info) for info in archive.infolist() if (path := _path(info, shown))])


def _path(info: zipfile.ZipInfo, shown: str) -> tuple[str, ...]:
    """Return the parts of an entry's path. Raise `Refusal` if the path leads out of the zip."""
    paths = []
    for name in (info.orig_filename, info.filename):  # an extra field may hold a second name (Python 3.12)
        parts: list[str] = []
        for part in _DRIVE.sub("", name.replace("\\", "/"), count=1).split("/"):
            if (part == ".." and not parts) or "\0" in part:
                raise Refusal(f"The zip {shown} contains a path that leads out of it ({name[:60]!a}); {_AGAIN}")
            parts[len(parts) - (part == "..") :] = [part] * (part not in {"", ".", ".."})
        paths.append(tuple(parts))
    return paths[-1]


def copy_of(entry: FolderEntry) -> IO[bytes]:
    """Return the bytes of a zip in a zip as a stream. Raise `Refusal` if they are more than `MAX_ARCHIVE_BYTES`."""
    return io.BytesIO(entry.read(MAX_ARCHIVE_BYTES))
