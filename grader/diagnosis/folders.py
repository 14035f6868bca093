"""Check the folders to which fairclock writes: temporary files, compiled code, progress, and locks on cores."""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from grader.diagnosis.finding import Finding
from grader.isolation import machine_facts
from harness.errors import MachineError
from harness.machine import lanes
from harness.storage import disk_cache, user_files

ENOUGH_BYTES: Final = 1 << 30
"""The free disk space that a folder should have. Grading a class used less than 300 MiB."""


def folders() -> tuple[Finding, ...]:
    """Return a finding for each folder to which fairclock writes."""
    return (
        temporary(),
        user_folder("compiled code", disk_cache.folder(), disk_cache.FOLDER_VARIABLE, runs=True),
        user_folder("progress", user_files.state_folder(), user_files.FOLDER_VARIABLE),
        locks(),
    )


def temporary() -> Finding:
    """Return a finding for the folder of temporary files. It must be possible to run compiled code from it."""
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


def user_folder(part: str, folder: Path, variable: str, *, runs: bool = False) -> Finding:
    """Return the finding for a folder of this user, such as the cache.

    `part` names the folder in the report, and `variable` is the environment variable that moves it. With `runs`,
    compiled code must be able to run from the folder.
    """
    if trouble := _trouble(folder, runs=runs):
        fix = f"set {variable} to another folder: `export {variable}=FOLDER`"
        return Finding(part, present=False, found=trouble, fix=fix)
    return Finding(part, present=True, found=str(folder))


def locks() -> Finding:
    """Return a finding that states whether this user can lock CPU cores, so that no measurements share a core."""
    part, folder = "locks on cores", lanes.directory()
    try:
        free = lanes.free_cores()
    except MachineError as error:
        return Finding(part, present=False, found=str(error), fix=locks_fix(folder), needed=True)
    held = "" if free else " (other measurements hold all locks now)"
    return Finding(part, present=True, found=f"{folder}{held}", needed=True)


def locks_fix(folder: Path) -> str:
    """Return advice that lets every user of this machine lock CPU cores: a command if possible."""
    if sys.platform == "win32":
        return "grade on Linux, or in WSL 2"
    if not os.path.lexists(folder):
        return f"choose a folder that all users may write to: `export {lanes.DIRECTORY_VARIABLE}=FOLDER`"
    if not folder.is_dir():
        return f"it is a file, not a folder, so remove it: `sudo rm {folder}`"
    return f"`sudo chmod 1777 {folder} && sudo chmod -f a+r {folder}/*.lock`"


def _trouble(folder: Path, *, runs: bool) -> str:
    if _closed(folder):
        return f"this user cannot write to {folder}"
    there = _existing(folder)
    if runs and (mount := machine_facts.noexec(there)):
        return f"{folder} is on {mount}, which is mounted with noexec, so compiled code in it cannot run"
    free = shutil.disk_usage(there).free
    if free < ENOUGH_BYTES:
        return f"{folder} has {free >> 20} MiB of free space; grading may need {ENOUGH_BYTES >> 20} MiB"
    return ""


def _closed(folder: Path) -> bool:
    there = _existing(folder)
    if there != folder:
        return not (there.is_dir() and os.access(there, os.W_OK | os.X_OK))
    try:
        with tempfile.TemporaryFile(dir=there):
            return False
    except OSError:
        return True


def _existing(folder: Path) -> Path:
    return next(above for above in [folder, *folder.absolute().parents] if above.exists())
