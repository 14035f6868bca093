"""The one rule on files that are there already: what a person may have edited is overwritten with `--force` alone."""

from collections.abc import Callable
from pathlib import Path

from harness.errors import UsageError


class EditedFileError(UsageError):
    """A file is there already in which a person's work may be; the message names it and says `--force`."""


def refuse_edited(path: Path, *, force: bool, is_ours: Callable[[Path], bool] = lambda _path: False) -> None:
    """Raise `EditedFileError` when there is a file at `path` that a person may have edited, unless `force` is given.

    An empty file holds no work. `is_ours` returns whether a file holds nothing but what this kit wrote into it; it is
    asked only where a file is there.
    """
    if force or not path.is_file():
        return
    try:
        ours = not path.stat().st_size or is_ours(path)
    except OSError as error:
        raise UsageError(
            f"{path} is there already and cannot be read ({error.strerror}); name another file."
        ) from error
    if not ours:
        raise EditedFileError(
            f"{path} is there already, and your work may be in it, so nothing was written. "
            "Name another file, or overwrite it with --force."
        )
