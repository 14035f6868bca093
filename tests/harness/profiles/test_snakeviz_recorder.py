"""A recorded profile names no folder, and its page is drawn by a real browser."""

import cProfile
import pstats
import time
from pathlib import Path

import pytest
from PIL import Image

from harness.errors import MachineError
from harness.profiles import snakeviz_recorder
from harness.profiles.snakeviz_recorder import PICTURE, PROFILE, WIDTH, record_profile


def profile_of_this_file(folder: Path) -> Path:
    """Write the profile of a function of this file, and return its path."""
    profile = cProfile.Profile()
    profile.runcall(wait_briefly)
    file = folder / "waits.prof"
    profile.dump_stats(file)
    return file


def wait_briefly() -> None:
    time.sleep(0.01)


def test_without_chromium_nothing_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snakeviz_recorder, "lacking", lambda *_arguments: "chromium is missing")
    with pytest.raises(MachineError, match="chromium is missing"):
        record_profile(profile_of_this_file(tmp_path), tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.browser
@pytest.mark.long
def test_the_profile_and_a_picture_of_its_page_are_recorded(tmp_path: Path) -> None:
    folder = tmp_path / "recorded"
    files = record_profile(profile_of_this_file(tmp_path), folder)
    assert files == [folder / PROFILE, folder / PICTURE]
    functions = pstats.Stats(str(files[0])).stats  # type: ignore[attr-defined]  # missing in the types
    assert ("test_snakeviz_recorder.py", "wait_briefly") in {(file, name) for file, _, name in functions}
    with Image.open(files[1]) as picture:
        assert picture.width == WIDTH
        colours = picture.convert("RGB").getcolors(maxcolors=2**24)
    assert colours is not None
    assert len(colours) > 2
