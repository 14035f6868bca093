"""Write a file atomically if its content has changed, and turn errors of the operating system into plain messages.

Also turn any text or file name into text that UTF-8 can encode. Lone surrogates (halves of a character) cannot be
encoded. Notebooks and outputs may contain them, and Python uses them for bytes of file names that are not UTF-8.
"""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import FairclockError
from harness.storage.user_files import write_whole

_ESCAPE = re.compile(r"\\x[0-9a-f]{2}")
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class WriteError(FairclockError):
    """A file could not be written. The message gives the reason and what to do next."""


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an `OSError` inside the `with` block into a `WriteError` that explains why `path` could not be written."""
    try:
        yield
    except OSError as fault:
        full = fault.errno in _FULL
        why = "the disk is full; make room" if full else f"{fault.strerror or fault}; make it writable"
        raise WriteError(f"{path} could not be written: {why} and run the same command again.") from fault


def write_atomically(path: Path, data: bytes, *, mode: int = 0o644, durable: bool = True) -> bool:
    """Replace the file at `path` atomically. Return False, without writing, if its content is already `data`.

    The folder is created if it does not exist. `mode` are the permissions of the file. With `durable`, the data is
    synced to the disk. Raise `WriteError` if the file cannot be written. The old file is then unchanged.
    """
    with explained(path):
        if path.is_file() and path.read_bytes() == data:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data, mode=mode, durable=durable)
    return True


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
