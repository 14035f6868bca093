"""Check existing files before they are overwritten. A file that a person may have edited needs the option `--force`."""

from collections.abc import Callable
from pathlib import Path

from harness.errors import UsageError


class EditedFileError(UsageError):
    """A file exists and may hold a person's work. The message names the file and the option `--force`."""


def refuse_edited(path: Path, *, force: bool, is_ours: Callable[[Path], bool] = lambda _path: False) -> None:
    """Raise `EditedFileError` if a person may have edited the file at `path`, unless `force` is true.

    A missing or empty file counts as unedited. For any other file, `is_ours(path)` returns whether fairclock wrote its
    whole content.
    """
    if force or not path.is_file():
        return
    try:
        unedited = not path.stat().st_size or is_ours(path)
    except OSError as error:
        raise UsageError(
            f"{path} is there already and cannot be read ({error.strerror}); name another file."
        ) from error
    if not unedited:
        raise EditedFileError(
            f"{path} is there already and may hold your work, so nothing was written. "
            "Name another file, or overwrite it with --force."
        )
