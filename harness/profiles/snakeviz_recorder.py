"""Record a profile and a picture of its page in SnakeViz, for students who cannot open a browser."""

import pstats
import tempfile
import time
from pathlib import Path
from typing import Final

from harness.errors import MachineError
from harness.machine.programs import install, lacking
from harness.profiles.snakeviz import served
from harness.rendering.chromium import chromium
from harness.rendering.screenshots import compressed

PROFILE: Final = "train.prof"
PICTURE: Final = "snakeviz.png"
WIDTH: Final = 1100
HEIGHT: Final = 900
"""The size of the picture in pixels. The table at the end of the page is cut off."""

LIMIT_S: Final = 30.0
"""Time limit for SnakeViz's page to draw the profile, in seconds."""

_POLL_S: Final = 0.2


def record_profile(profile: Path, folder: Path) -> list[Path]:
    """Write a profile without the folders in its file names, and a picture of its page. Return the written files.

    Raise `MachineError` if Chromium is missing or if the page draws nothing.
    """
    if reason := lacking("chromium", install("chromium"), "chromium"):
        raise MachineError(reason)
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / PROFILE
    pstats.Stats(str(profile)).strip_dirs().dump_stats(kept)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch, served(kept) as server:
        saved, picture = Path(scratch, "page.html"), Path(scratch, PICTURE)
        saved.write_text(server.standalone(), encoding="utf-8")
        _photograph(saved, picture)
        return [kept, compressed(picture, folder, most_rows=HEIGHT)]


def _photograph(saved: Path, picture: Path) -> None:
    """Write a screenshot of a saved page of SnakeViz, after the page has drawn its icicle."""
    with chromium(saved.parent / "browser") as page:
        page.look(WIDTH, height=HEIGHT)
        page.open(saved)
        ends_s = time.monotonic() + LIMIT_S
        while not page.run("document.querySelectorAll('#chart svg rect').length"):
            if time.monotonic() > ends_s:
                raise MachineError(f"SnakeViz's page drew nothing in {LIMIT_S:g} s. Try again.")
            time.sleep(_POLL_S)
        page.photograph(picture)
