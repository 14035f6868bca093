"""The class page in a real browser: what a hostile student name or message does to it."""

import subprocess
from pathlib import Path

import pytest
from test_reports_gradescope import roll, submission

from grader.reports import page

HOSTILE = "<b>O'Neil</b><script>document.title = 'caught'</script>, =1+1"


def chromium(*arguments: str, folder: Path) -> str:
    """Run headless Chromium with a profile of its own; what it prints."""
    quiet = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}", *quiet]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


@pytest.mark.browser
@pytest.mark.slow
def test_a_browser_shows_a_hostile_name_as_just_that(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(page.render(roll(submission("right", HOSTILE), submission("wrong", "ada"))), encoding="utf-8")
    seen = chromium("--dump-dom", path.as_uri(), folder=tmp_path / "profile")
    assert "<title>caught" not in seen
    assert "&lt;b&gt;O'Neil&lt;/b&gt;" in seen
    assert "<script" not in seen


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("width", [420, 1200])
def test_the_page_can_be_drawn_on_a_phone_and_on_a_desk(tmp_path: Path, width: int) -> None:
    path, picture = tmp_path / "report.html", tmp_path / "page.png"
    path.write_text(page.render(roll(submission("right"))), encoding="utf-8")
    size = f"--window-size={width},900"
    chromium(size, f"--screenshot={picture}", path.as_uri(), folder=tmp_path / "profile")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert int.from_bytes(picture.read_bytes()[16:20]) == width
