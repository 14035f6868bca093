"""Writing a file so that a reader sees the old one or the new one whole, whatever happens in between."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import FairclockError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class WriteError(FairclockError):
    """What was to be kept could not be written; the message says what is safe and how to go on."""


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what an operating system says when `path` cannot be written into one sentence."""
    try:
        yield
    except OSError as fault:
        full = fault.errno in _FULL
        why = "the disk is full; make room" if full else f"{fault.strerror or fault}; make it writable"
        raise WriteError(f"{path} could not be written: {why} and run the same command again.") from fault


def write_atomically(path: Path, data: bytes, *, mode: int = 0o644, durable: bool = True) -> bool:
    """Put `data` at `path` in one step; False when it is there already, and then nothing is touched.

    What is `durable` is on the disk before this returns. Waiting for that takes longer than all else, so it is left out
    where the next run makes again what a power cut has spoilt.
    Raises `WriteError` when it cannot be written; whatever stood at `path` stands there still.
    """
    with explained(path):
        if path.is_file() and path.read_bytes() == data:
            return False
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}-")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            temporary.chmod(mode)
            temporary.replace(path)
        except BaseException:
            temporary.unlink()
            raise
    return True
