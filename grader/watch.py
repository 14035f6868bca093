"""`check --watch`: grade again whenever an exercise is saved, until Ctrl-C."""

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
"""The files are looked at so often even if nothing tells of a change (network folders tell nothing)."""


def saves(files: Sequence[Path]) -> Changes:
    """Return an endless iterator over what is saved from now on: each time, those of `files` that have changed.

    Their folders are watched, for many an editor writes a new file and renames it to the old one's name. What was
    saved before the watching began (the first check takes seconds) is noticed within `LOOK_MS`.
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
    """What tells one version of a file from the next; None while there is no file."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


def watch(check: Callable[[Sequence[Path]], int], files: Sequence[Path], console: Console, changes: Changes) -> int:
    """Check all files, and from then on those that are saved; return the exit code of the last check.

    A file that cannot be taken just now (half saved, not Python text) is told of, and waited for.
    """
    prompt = f" Watching {', '.join(path.name for path in files)}: save to check again, Ctrl-C to stop."

    def told(some: Sequence[Path]) -> int:
        try:
            return check(some)
        except FairclockError as error:
            console.print(str(error), markup=False, highlight=False)
            return error.exit_code

    code = told(files)
    with suppress(KeyboardInterrupt):
        console.print(prompt, markup=False, highlight=False)
        for saved in changes:
            console.rule(f"{datetime.now().astimezone():%H:%M:%S}", style="dim")
            code = told(sorted(saved))
            console.print(prompt, markup=False, highlight=False)
    return code
