"""The folders that the kit writes to: temporary files, compiled code, progress, and the locks on cores."""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from grader.diagnosis.finding import Finding
from grader.isolation import host
from harness import disk_cache, lanes, state
from harness.errors import MachineError

ENOUGH_BYTES: Final = 1 << 30
"""What a class run and the compilers need free at most (measured: below 300 MiB)."""


def folders() -> tuple[Finding, ...]:
    """Look at each folder."""
    return (
        temporary(),
        kept("compiled code", disk_cache.folder(), disk_cache.FOLDER_VARIABLE, runs=True),
        kept("progress", state.state_folder(), state.FOLDER_VARIABLE),
        locks(),
    )


def temporary() -> Finding:
    """Look at the folder for temporary files, from which compiled snippets are loaded."""
    part = "temporary files"
    other = "set TMPDIR to another folder: `mkdir -p ~/tmp && export TMPDIR=~/tmp`"
    try:
        folder = Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        return Finding(part, present=False, found=error.strerror or str(error), fix=other)
    if trouble := _trouble(folder, runs=True):
        fix = f"`sudo chmod 1777 {folder}`, or {other}" if folder == Path("/tmp") and _closed(folder) else other  # noqa: S108
        return Finding(part, present=False, found=trouble, fix=fix)
    return Finding(part, present=True, found=str(folder))


def kept(part: str, folder: Path, variable: str, *, runs: bool = False) -> Finding:
    """Look at a folder of this user; with `runs` what is in it is loaded as code."""
    if trouble := _trouble(folder, runs=runs):
        fix = f"set {variable} to another folder: `export {variable}=FOLDER`"
        return Finding(part, present=False, found=trouble, fix=fix)
    return Finding(part, present=True, found=str(folder))


def locks() -> Finding:
    """Look whether this user can take the locks on cores, which all users of a machine share."""
    part, folder = "locks on cores", lanes.directory()
    try:
        free = lanes.free_cores()
    except MachineError as error:
        return Finding(part, present=False, found=str(error), fix=locks_fix(folder), needed=True)
    held = "" if free else " (other measurements hold all of them now)"
    return Finding(part, present=True, found=f"{folder}{held}", needed=True)


def locks_fix(folder: Path) -> str:
    """Return how to let every user take these locks."""
    if sys.platform == "win32":
        return "grade on Linux, or in WSL 2"
    if not os.path.lexists(folder):
        return f"name a folder that all users may write to: `export {lanes.DIRECTORY_VARIABLE}=FOLDER`"
    if not folder.is_dir():
        return f"it is not a folder: `sudo rm {folder}`"
    return f"`sudo chmod 1777 {folder} && sudo chmod -f a+r {folder}/*.lock`"


def _trouble(folder: Path, *, runs: bool) -> str:
    """Why files cannot be kept in this folder, or what is in it cannot be loaded; "" when all is well."""
    if _closed(folder):
        return f"{folder} cannot be written by this user"
    there = _existing(folder)
    if runs and (mount := host.noexec(there)):
        return f"{folder} lies on {mount}, which is mounted with noexec, so compiled code in it cannot run"
    free = shutil.disk_usage(there).free
    if free < ENOUGH_BYTES:
        return f"{folder} has {free >> 20} MiB free; {ENOUGH_BYTES >> 20} MiB may be needed"
    return ""


def _closed(folder: Path) -> bool:
    """Whether this user can make no file in a folder, which is tried, nor make the folder."""
    there = _existing(folder)
    if there != folder:
        return not (there.is_dir() and os.access(there, os.W_OK | os.X_OK))
    try:
        with tempfile.TemporaryFile(dir=there):
            return False
    except OSError:
        return True


def _existing(folder: Path) -> Path:
    """The folder, or what exists above it."""
    return next(above for above in [folder, *folder.absolute().parents] if above.exists())
