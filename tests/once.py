"""Make expensive files once per session: workers of pytest-xdist share a folder, and the first one fills it."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

if sys.platform != "win32":
    import fcntl


def shared(factory: pytest.TempPathFactory) -> Path:
    """Return the session's folder. Each worker of pytest-xdist has a folder of its own in it."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return the folder of that name after `make` has filled it.

    Other workers wait until the folder is filled. If `make` fails, the next worker calls it again.
    """
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
