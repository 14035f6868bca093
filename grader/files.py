"""Write a file atomically if its content has changed, and turn errors of the operating system into plain messages.

Also turn any text or file name into text that UTF-8 can encode. Lone surrogates (halves of a character) cannot be
encoded. Notebooks and outputs may contain them, and Python uses them for bytes of file names that are not UTF-8.
"""

import io
import os
import re
import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.errors import FairclockError, UsageError
from harness.standard_streams import FULL
from harness.storage.user_files import write_whole

_ESCAPE = re.compile(r"\\x[0-9a-f]{2}")
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # to open a pipe that nobody writes to
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time in the zip format
_PLAIN_FILE = 0o100644


class WriteError(FairclockError):
    """A file could not be written. The message gives the reason and what to do next."""


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an `OSError` inside the `with` block into a `WriteError` that explains why `path` could not be written."""
    try:
        yield
    except OSError as fault:
        full = fault.errno in FULL
        why = "the disk is full; make room" if full else f"{fault.strerror or fault}; make it writable"
        raise WriteError(f"{path} could not be written: {why} and run the same command again.") from fault


def write_atomically(path: Path, data: bytes, *, mode: int | None = None, durable: bool = True) -> bool:
    """Replace the file at `path` atomically. Return False, without writing, if its content is already `data`.

    The folder is created if it does not exist. `mode` are the permissions of the file, by default those of the user's
    new files. With `durable`, the data is synced to the disk. Raise `WriteError` if the file cannot be written. The old
    file is then unchanged.
    """
    with explained(path):
        if path.is_file() and path.read_bytes() == data:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data, mode=mode, durable=durable)
    return True


def zip_of(contents: Mapping[str, bytes]) -> bytes:
    """Return a zip of files, given by name. Equal files give equal bytes, at any time and on every system."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix on every system, because the next line is a Unix mode
            info.external_attr = _PLAIN_FILE << 16
            archive.writestr(info, data)
    return made.getvalue()


def rights(folder: Path) -> int:
    """Return the permissions of a new file that the same users may read and write as `folder`."""
    return folder.stat().st_mode & 0o666


def storable(text: str) -> str:
    r"""Return text that UTF-8 can encode. Each lone surrogate is replaced by an escape such as `\ud800`."""
    return text.encode("utf-8", "backslashreplace").decode()


def file_name(name: str) -> str:
    r"""Return a file name as text that UTF-8 can encode. Each byte that is not UTF-8 becomes an escape such as `\xe9`.

    Different names give different texts, because they identify students. So if the text contains an escape, the name's
    own backslashes are doubled. This also happens if the name itself contains text such as `\xe9`.
    """
    data = os.fsencode(name)
    text = data.decode("utf-8", "backslashreplace")
    if _ESCAPE.search(text):
        text = data.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    return text


def read_plain_file(path: Path, limit: int, what: str) -> bytes:
    """Return the content of a file of at most `limit` bytes. `what` is the file's noun in errors: "The course file".

    Raise `UsageError`, in one sentence and without waiting, if `path` is no plain file, is larger or cannot be read.
    """
    try:
        with os.fdopen(os.open(path, _AT_ONCE), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{what} {path} is a device or a pipe. Give a file.")
            data = file.read(limit + 1)
    except (OSError, ValueError) as fault:  # a `ValueError` if the name contains a zero
        why = fault.strerror if isinstance(fault, OSError) else str(fault)
        raise UsageError(f"{what} {path} cannot be read ({why}).") from None
    if len(data) > limit:
        raise UsageError(f"{what} {path} is larger than {limit:,} bytes. Give another file.")
    return data


def read_text_file(path: Path, limit: int, what: str) -> str:
    """Return the text of a UTF-8 file of at most `limit` bytes, without a byte order mark. See `read_plain_file`."""
    data = read_plain_file(path, limit, what)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UsageError(f"{what} {path} is not UTF-8 text. Save it as UTF-8 in your editor.")
    return text
