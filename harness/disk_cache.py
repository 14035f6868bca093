"""What took long to make, kept between runs in the user's cache folder: named by a digest of all it depends on.

A file that cannot be read back is as good as none, and a folder that cannot be written costs the next run its time.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import platformdirs

from harness.errors import MachineError
from harness.files import put

FORMAT: Final = 1
"""Raised whenever anything kept is made or kept differently, so that what is older is not taken for it."""

FOLDER_VARIABLE: Final = "FAIRCLOCK_CACHE"
"""Environment variable that names another folder for it."""


def folder() -> Path:
    """The folder; it need not exist yet."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("fairclock", appauthor=False))


def made(path: Path) -> Path:
    """Return a folder of the cache, which is made if need be. Raises `MachineError` with what to do if it cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MachineError(
            f"What is compiled cannot be kept in {path} ({error.strerror}); name another folder in {FOLDER_VARIABLE}."
        ) from error
    return path


def digest(depends_on: Mapping[str, object]) -> str:
    """A name for everything in `depends_on`."""
    text = json.dumps({"format": FORMAT, **depends_on}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def load(kind: str, key: str) -> Any:
    """The value kept in the folder `kind` under `key`; None when there is none, or none that can be read."""
    try:
        return json.loads(_path(kind, key).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def keep(kind: str, key: str, value: object) -> None:
    """Keep a value in the folder `kind` under `key`, whole or not at all."""
    path = _path(kind, key)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, json.dumps(value).encode(), mode=0o600, durable=False)


def _path(kind: str, key: str) -> Path:
    return folder() / kind / f"{key}.json"
