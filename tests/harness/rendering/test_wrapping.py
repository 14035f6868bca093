"""The text of `check` is wrapped at the present width of the terminal."""

import os
import re
import sys
from io import StringIO
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest
from rich.cells import cell_len
from rich.console import Console

from harness.rendering.wrapping import say, wrapped

ROOT = Path(__file__).parents[3]
CONTROLS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")
SENTENCE = "A block need only be long enough for the clock, and no longer than that, since it meets more disturbances."


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_check_at_a_terminal_fits_its_width(tmp_path: Path) -> None:
    environment = {**os.environ, "FAIRCLOCK_STATE": str(tmp_path), "TERM": "xterm", "PYTHONPATH": str(ROOT)}
    environment.pop("COLUMNS", None)
    child = pexpect.spawn(
        sys.executable,
        ["-m", "grader", "check", "2", "--hint", "repair"],
        env=environment,
        cwd=str(ROOT),
        encoding="utf-8",
        timeout=120,
        dimensions=(24, 60),
    )
    lines = [line.rstrip() for line in CONTROLS.sub("", child.read()).splitlines() if "Checking" not in line]
    assert any("Hint 1 of 3" in line for line in lines)
    assert 50 < max(map(cell_len, lines)) <= 60
    assert not any(line.endswith("…") for line in lines)


def test_an_indent_is_kept_for_what_follows_and_no_word_is_lost() -> None:
    lines = list(wrapped(f"  {SENTENCE}", 40, indent=3))
    assert all(line.startswith("     ") and len(line) <= 40 for line in lines)
    assert " ".join(line.strip() for line in lines) == SENTENCE


def test_where_no_terminal_is_there_lines_stay_whole() -> None:
    assert list(wrapped(SENTENCE, None, indent=3)) == [f"   {SENTENCE}"]


def test_a_terminal_gets_the_text_without_colours() -> None:
    screen = StringIO()
    say(Console(file=screen, force_terminal=True, width=200), "4 of 'ten' calls [bold] took 0.5 s")
    assert screen.getvalue() == "4 of 'ten' calls [bold] took 0.5 s\n"
