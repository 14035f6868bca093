"""List what a class's folder holds: the folders, zips and files of its students. The folder may itself be a zip."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from grader.files import file_name
from grader.hand_ins import archives, entries
from grader.hand_ins.entries import FolderEntry, Kind
from grader.hand_ins.refusal import Refusal
from harness.errors import UsageError


@dataclass(frozen=True, slots=True)
class Item:
    """A file or folder directly in a class's folder.

    `below` yields what is in the folder, and counts ignored files in its argument. `names` returns all names directly
    in the folder. `items` returns what a folder in a zip holds, as items of a class's folder.
    """

    entry: FolderEntry
    below: Callable[[Counter[str]], Iterable[FolderEntry]] = lambda _: ()
    names: Callable[[], frozenset[str]] = frozenset
    items: Callable[[], Mapping[str, "Item"]] = dict

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.entry.kind is Kind.FOLDER


@contextmanager
def listed(folder: Path) -> Iterator[Mapping[str, Item]]:
    """Yield what a folder or zip of hand-ins holds, by name. Raise `UsageError` if it cannot be read."""
    if folder.is_file() and archives.is_zip(folder.name):
        with folder.open("rb") as file:
            try:
                with archives.opened(file, folder.name) as opened:
                    yield _in_zip(opened.archive, opened.named)
            except Refusal as refusal:
                raise UsageError(f"{folder} cannot be read. {refusal}") from None
        return
    try:
        paths = sorted(folder.iterdir())
    except OSError as fault:
        why = f"{folder} cannot be read ({fault.strerror})"
        raise UsageError(f"{why}; give the folder that contains one folder or zip for each student.") from None
    root = Path(os.path.realpath(folder))
    yield {name: _on_disk(path, root, name) for path in paths if not entries.is_junk(name := file_name(path.name))}


def _on_disk(path: Path, root: Path, name: str) -> Item:
    return Item(
        entries.on_disk(path, root, (name,), name),
        lambda ignored: entries.below(path, name, ignored),
        lambda: frozenset(file_name(one.name) for one in path.iterdir()),
    )


def _in_zip(archive: ZipFile, named: list[tuple[tuple[str, ...], ZipInfo]]) -> dict[str, Item]:
    top = archives.Zip(archive, "", named)
    inside: dict[str, list[tuple[tuple[str, ...], ZipInfo]]] = {}
    for path, info in named:
        inside.setdefault(path[0], []).append((path[1:], info))
    files = {one.name: one for one in top.entries(Counter()) if len(one.path) == 1 and one.kind is not Kind.FOLDER}
    return {
        name: Item(files[name]) if name in files else _folder_in_zip(top, name, [one for one in found if one[0]])
        for name, found in sorted(inside.items())
        if not entries.is_junk(name)
    }


def _folder_in_zip(top: archives.Zip, name: str, named: list[tuple[tuple[str, ...], ZipInfo]]) -> Item:
    return Item(
        FolderEntry((name,), name, Kind.FOLDER),
        lambda ignored: top.entries(ignored, (name,)),
        lambda: frozenset(path[0] for path, _ in named),
        lambda: _in_zip(top.archive, named),
    )
