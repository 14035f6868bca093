"""Write a file atomically: a program that reads it gets either the complete old or the complete new content."""

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, data: bytes, *, mode: int = 0o644, durable: bool = True) -> None:
    """Write `data` to the file `path` atomically, with the permissions `mode`. The folder must exist.

    With `durable`, the data is on the disk before this function returns. This takes longer, so use `durable=False` for
    files that the next run can make again. Raise `OSError` if the file cannot be written. The old file then stays, and
    no temporary file is left. A device such as /dev/stdout is written directly.
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
