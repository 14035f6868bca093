"""The folder that a class is graded into: what may be in it, and that one process at a time grades into it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from grader.files import explained
from harness.errors import UsageError

FILE: Final = "grades.sqlite"
SEED: Final = ".seed"
LOCK: Final = ".lock"
BOARD: Final = "leaderboard.html"


def check(out: Path, folder: Path) -> None:
    """Raise `UsageError` when grades of the class in `folder` cannot be kept in `out`."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; name a folder for the grades, which is made when it does not exist.")
    if out.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{out} lies in the class folder, where it would be taken for a student; name one outside.")
    if out.is_dir() and not (out / FILE).exists():
        others = sorted(path.name for path in out.iterdir() if path.name not in {SEED, LOCK})
        if others:
            raise UsageError(f"{out} holds other files (such as {others[0]}) and no journal; name a new folder.")


@contextmanager
def lock(out: Path) -> Iterator[None]:
    """Hold OUT against other processes. The lock ends with the process that holds it, however that ends."""
    with explained(out):
        file = (out / LOCK).open("a+")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise UsageError(
                f"Another run (process {file.read().strip() or 'unknown'}) is grading into {out}; "
                "wait for it, or stop it and run again."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
