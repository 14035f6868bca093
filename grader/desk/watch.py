"""`check --watch` grades an exercise again after each save, until Ctrl-C."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import watchfiles
from rich.console import Console

from harness.errors import FairclockError

Changes = Iterator[set[Path]]
State = tuple[int, int, int] | None

LOOK_MS: Final = 1000
"""The interval in milliseconds at which files are checked for changes. Network folders send no notifications."""


def saves(files: Sequence[Path]) -> Changes:
    """Return an endless iterator that gives, after each save, the changed files among `files`.

    The folders of the files are watched, because many editors write a new file and rename it. A save during the first
    check is found within `LOOK_MS` milliseconds.
    """
    return _saves(files, {path: _state(path) for path in files})


def _saves(files: Sequence[Path], known: dict[Path, State]) -> Changes:
    folders = {path.resolve().parent for path in files}
    for _ in watchfiles.watch(*folders, recursive=False, rust_timeout=LOOK_MS, yield_on_timeout=True):
        now = {path: _state(path) for path in files}
        saved = {path for path in files if now[path] not in {None, known[path]}}
        known = now
        if saved:
            yield saved


def _state(path: Path) -> State:
    """Return the time, size and inode of a file, which change with each save, or None if there is no file."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


def watch(check: Callable[[Sequence[Path]], int], files: Sequence[Path], console: Console, changes: Changes) -> int:
    """Check all files, and then each file that is saved. Return the exit code of the last check.

    `check` grades files and returns an exit code. If a file cannot be checked, for example because it is half-written,
    print the error and wait for the next save.
    """
    prompt = f" Watching {', '.join(path.name for path in files)}: save to check again, Ctrl-C to stop."

    def run(some: Sequence[Path]) -> int:
        try:
            return check(some)
        except FairclockError as error:
            console.print(str(error), markup=False, highlight=False)
            return error.exit_code

    code = run(files)
    with suppress(KeyboardInterrupt):
        console.print(prompt, markup=False, highlight=False)
        for saved in changes:
            console.rule(f"{datetime.now().astimezone():%H:%M:%S}", style="dim")
            code = run(sorted(saved))
            console.print(prompt, markup=False, highlight=False)
    return code
