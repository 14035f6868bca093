"""What costs much is made once a session: workers of pytest-xdist share a folder, and who comes first fills it."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

if sys.platform != "win32":
    import fcntl


def shared(factory: pytest.TempPathFactory) -> Path:
    """The session's folder, in which each worker of pytest-xdist has one of its own."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The folder of that name, which `make` has filled; whoever asks meanwhile waits. What failed is tried again."""
    place = shared(factory)
    folder, whole = place / name, place / f"{name}.whole"
    with (place / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            whole.touch()
    return folder
