"""A file put in its place whole: a reader sees the old one or the new one, whatever happens in between."""

import os
import tempfile
from pathlib import Path


def put(path: Path, data: bytes, *, mode: int = 0o644, durable: bool = True) -> None:
    """Put `data` at `path` in one step, with these permissions; the folder must be there.

    What is `durable` is on the disk before this returns. Waiting for that takes longer than all else, so it is left out
    where the next run makes again what a power cut has spoilt.
    Raises `OSError` when it cannot be written; whatever stood at `path` stands there still, and nothing else is left.
    A device such as /dev/stdout is written to as it is.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
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
