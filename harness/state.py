"""The folder that keeps what one user has done, between runs: progress in lessons, hints already seen."""

import os
from pathlib import Path

import platformdirs

FOLDER_VARIABLE = "FAIRCLOCK_STATE"
"""Environment variable that names another folder for it."""


def state_folder() -> Path:
    """Return the folder; it need not exist yet."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else Path(platformdirs.user_state_dir("fairclock", appauthor=False))
