"""The output folder with the grades of a class: its allowed contents, and a lock for the only process that grades."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from grader import seeds
from grader.files import explained
from harness.errors import UsageError

FILE: Final = "grades.sqlite"
LOCK: Final = ".lock"


def check(out: Path, folder: Path) -> None:
    """Raise `UsageError` if the grades of the submissions in `folder` cannot be stored in the folder `out`."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file. Give a folder for the grades; if the folder does not exist, it is created.")
    if out.resolve().is_relative_to(folder.resolve()):
        raise UsageError(
            f"{out} is in the class folder, so `run` would take it for the folder of a student. Use another folder."
        )
    if out.is_dir() and not (out / FILE).exists():
        others = sorted(path.name for path in out.iterdir() if path.name not in {seeds.FILE, LOCK})
        if others:
            raise UsageError(f"{out} holds other files (such as {others[0]}) and no journal. Use a new folder.")


@contextmanager
def lock(out: Path) -> Iterator[None]:
    """Lock the folder `out` against other processes until the end of the `with` block or of this process.

    Raise `UsageError` if another process holds the lock.
    """
    with explained(out):
        file = (out / LOCK).open("a+")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise UsageError(
                f"Another run (process {file.read().strip() or 'unknown'}) is grading into {out}. "
                "Wait until it ends, or stop it, and run the command again."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
