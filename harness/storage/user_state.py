"""Find the state folder, which holds a user's progress in lessons and the hints that the user has read."""

import os
from pathlib import Path

import platformdirs

FOLDER_VARIABLE = "FAIRCLOCK_STATE"
"""Name of the environment variable that sets another state folder."""


def state_folder() -> Path:
    """Return the state folder of the user, which may not exist yet."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else Path(platformdirs.user_state_dir("fairclock", appauthor=False))
