"""The user's own files: the folder of the user's progress, atomic writes, and a check before a file is overwritten."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import platformdirs

from harness.errors import UsageError

FOLDER_VARIABLE = "FAIRCLOCK_STATE"
"""Name of the environment variable that sets another state folder."""

_UMASK = os.umask(0o077)  # only setting it tells the present one
os.umask(_UMASK)


class EditedFileError(UsageError):
    """A file exists and may hold a person's work. The message names the file and the option `--force`."""


def state_folder() -> Path:
    """Return the folder of the user's progress in lessons and read hints, which may not exist yet."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else Path(platformdirs.user_state_dir("fairclock", appauthor=False))


def from_home(file: Path) -> str:
    """Return a path as text, with `~` instead of the user's home folder."""
    home = Path.home()
    return f"~/{file.relative_to(home).as_posix()}" if file.is_relative_to(home) else str(file)


def write_whole(path: Path, data: bytes, *, mode: int | None = None, durable: bool = True) -> None:
    """Write `data` to the file `path` atomically, with the permissions `mode`, or those of the user's new files.

    The folder must exist. With `durable`, the data is on the disk before this function returns, which takes longer.
    Raise `OSError` if the file cannot be written. The old file then stays. A device such as /dev/stdout is written
    directly.
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
        temporary.chmod(0o666 & ~_UMASK if mode is None else mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink()
        raise


def write_state(file: Path, text: str, what: str) -> None:
    """Write a text file of the state folder, which only the user can read. Create the folder if it is missing.

    Raise `UsageError`, which names the file and its content `what`, if the file cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, text.encode(), mode=0o600)
    except OSError as error:
        raise UsageError(
            f"Your {what} cannot be saved in {file} ({error.strerror}). Set {FOLDER_VARIABLE} to a folder that you can "
            "write to."
        ) from error


def refuse_edited(path: Path, *, force: bool, is_ours: Callable[[Path], bool] = lambda _path: False) -> None:
    """Raise `EditedFileError` if a person may have edited the file at `path`, unless `force` is true.

    A missing or empty file counts as unedited, and a file that fairclock wrote: `is_ours(path)` is true.
    """
    if force or not path.is_file():
        return
    try:
        unedited = not path.stat().st_size or is_ours(path)
    except OSError as error:
        raise UsageError(f"{path} is there and cannot be read ({error.strerror}); name another file.") from error
    if not unedited:
        raise EditedFileError(
            f"{path} is there already and may hold your work, so nothing was written. "
            "Name another file, or overwrite it with --force."
        )
