"""Store values that take long to compute in the user's cache folder, by a digest of everything they depend on."""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import platformdirs

from harness.errors import MachineError
from harness.storage.user_files import write_whole

FORMAT: Final = 1
"""A part of every file name. Increase it when the computation or encoding of a stored value changes."""

FOLDER_VARIABLE: Final = "FAIRCLOCK_CACHE"
"""Name of the environment variable that sets another cache folder."""


def folder() -> Path:
    """Return the cache folder, which may not exist yet."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("fairclock", appauthor=False))


def made(path: Path) -> Path:
    """Create the folder `path` in the cache, and return it. Raise `MachineError` if this is impossible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MachineError(
            f"Compiled code cannot be stored in {path} ({error.strerror}). Set {FOLDER_VARIABLE} to another folder."
        ) from error
    return path


def digest(depends_on: Mapping[str, object]) -> str:
    """Return 32 hexadecimal digits that change when any value in `depends_on` changes."""
    text = json.dumps({"format": FORMAT, **depends_on}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def load(kind: str, key: str) -> Any:
    """Return the value that was stored in the folder `kind` under the name `key`. Return None if it cannot be read."""
    try:
        return json.loads(_path(kind, key).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def keep(kind: str, key: str, value: object) -> None:
    """Store a value in the folder `kind` under the name `key`. If the folder cannot be written, do nothing."""
    path = _path(kind, key)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(value).encode(), mode=0o600, durable=False)


def _path(kind: str, key: str) -> Path:
    return folder() / kind / f"{key}.json"
