"""Notice saved files for `check --watch` and `practise`, by looking at them. Network folders send no notifications."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

LOOK_S: Final = 0.2
"""The interval in seconds between two looks at the files."""

_State = tuple[int, int, int] | None


class FileWatch:
    """The watched files and folders, and the state in which each of them was last reported."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._reported: dict[Path, _State] = {}
        self._seen: dict[Path, _State] = {}
        self.add(paths)

    def add(self, paths: Iterable[Path]) -> list[Path]:
        """Watch these paths too, from now on. Return those that were not watched before."""
        new = [path for path in paths if path not in self._reported]
        self._reported |= {path: _state(path) for path in new}
        return new

    def changed(self) -> list[Path]:
        """Return the paths that were saved, created or deleted since the last report, and report them only once.

        A path whose state differs between two looks is still being written, so it is returned later. Call this method
        every `LOOK_S` seconds.
        """
        before, self._seen = self._seen, {path: _state(path) for path in self._reported}
        settled = [path for path, now in self._seen.items() if path in before and now == before[path]]
        found = [path for path in settled if self._seen[path] != self._reported[path]]
        self._reported |= {path: self._seen[path] for path in found}
        return found

    def saved(self, find: Callable[[], Iterable[Path]]) -> list[Path]:
        """Return the files that `changed` returns, and if a folder changed, new files that `find` returns."""
        changed = self.changed()
        new = self.add(find()) if any(path.is_dir() for path in changed) else []
        return [*filter(Path.is_file, changed), *new]


def _state(path: Path) -> _State:
    with suppress(OSError):
        about = path.stat()
        return about.st_mtime_ns, about.st_size, about.st_ino
    return None
