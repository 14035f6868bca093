"""The files that a lesson writes for its reader: claims as JSON, pictures as SVG.

Whether a file can be written is found out before anything is measured: nobody waits for a run to lose it.
"""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from harness.errors import UsageError
from harness.overwriting import refuse_edited
from lessons.engine.record import Json


@contextlib.contextmanager
def writable(path: Path | None, *, force: bool = False) -> Iterator[None]:
    """Raise `UsageError` at once unless `path` can be written; leave no empty file. None is no file.

    A file that is there already is written with `force` alone.
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
    """Write a JSON file. Raises `UsageError` when it cannot be written."""
    with _explained(path):
        path.write_text(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def picture_saver(folder: Path | None, lesson: str, *, force: bool = False) -> Callable[[str, str], None]:
    """Return what saves a picture of `lesson`, given its name and its SVG, in `folder`; None saves nothing.

    Raises `UsageError` when the folder cannot be made, when it holds pictures of this lesson and `force` is not given,
    and when a picture cannot be written.
    """
    if folder is None:
        return lambda _name, _svg: None
    for there in sorted(folder.glob(f"{lesson}-*.svg")):
        refuse_edited(there, force=force)
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
        raise UsageError(f"{path} cannot be written ({error.strerror}); name another place.") from error
