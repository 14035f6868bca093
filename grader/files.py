"""Writing a file whole, where it is not so already, with one sentence for whatever prevents that."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import FairclockError
from harness.files import put

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

    Raises `WriteError` when it cannot be written; whatever stood at `path` stands there still. For the rest, see `put`.
    """
    with explained(path):
        if path.is_file() and path.read_bytes() == data:
            return False
        put(path, data, mode=mode, durable=durable)
    return True
