"""Functions that write a lesson's files for the student: claims as JSON, and pictures as SVG.

Before it measures, the lesson checks that each file can be written. Otherwise the results of a run might be lost.
"""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from harness.errors import UsageError
from harness.storage.user_files import refuse_edited
from lessons.engine.record import Json


@contextlib.contextmanager
def writable(path: Path | None, *, force: bool = False) -> Iterator[None]:
    """Raise `UsageError` if the file `path` cannot be written, or if it exists and `force` is false.

    The check creates the file. If the `with` block has written nothing into a new file, its end removes the file. If
    `path` is None, nothing is checked.
    """
    if path is None:
        yield
        return
    refuse_edited(path, force=force)
    existed = path.exists()
    with _explained(path):
        path.open("a").close()
    try:
        yield
    finally:
        if not existed and path.exists() and path.stat().st_size == 0:
            path.unlink()


def write_json(value: Json, path: Path) -> None:
    """Write `value` to `path` as JSON. Raise `UsageError` if the file cannot be written."""
    with _explained(path):
        path.write_text(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def picture_saver(folder: Path | None, lesson: str, *, force: bool = False) -> Callable[[str, str], None]:
    """Return a function that saves a picture in `folder`. Its arguments are the picture's name and its SVG text.

    If `folder` is None, the function does nothing. Raise `UsageError` if the folder cannot be created, or if it
    contains pictures of this lesson and `force` is false. The function raises `UsageError` if it cannot write a file.
    """
    if folder is None:
        return lambda _name, _svg: None
    for picture in sorted(folder.glob(f"{lesson}-*.svg")):
        refuse_edited(picture, force=force)
    with _explained(folder):
        folder.mkdir(parents=True, exist_ok=True)

    def save(name: str, svg: str) -> None:
        path = folder / f"{name}.svg"
        with _explained(path):
            path.write_text(svg, encoding="utf-8")

    return save


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}). Name another file or folder.") from error
