"""Tests that a lesson's output fits the terminal, also if the terminal's size changes."""

import io
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from harness.rendering.tables import Table
from lessons.engine.screen import Screen

WORDS = "A block need only be long enough for the clock, and no longer. " * 4
CODE = (
    "def f(values):\n    return [value * value + 1 for value in values if value > 100 and value % 7 == 3 or not value]"
)
FILE = Path("/home/student/a_folder_with_a_long_name/of_a_project/lessons/recorded/11_torch_profiler/overview.png")
URL = "https://docs.pytorch.org/tutorials/recipes/recipes/a_very_long_name_of_a_page_that_no_terminal_of_60_holds.html"


def printed(screen: Screen, file: io.StringIO) -> list[str]:
    screen.say(WORDS)
    screen.code(CODE)
    screen.table(Table.of("A table", {"what": None, "value": None}, [(URL, 1.0)]))
    screen.photo(FILE, WORDS)
    screen.closing([WORDS], [URL])
    lines = file.getvalue().splitlines()
    file.truncate(0)
    file.seek(0)
    return lines


@pytest.mark.parametrize("width", [60, 120])
def test_all_text_is_shown_within_the_width(width: int) -> None:
    file = io.StringIO()
    lines = printed(Screen(Console(file=file, width=width)), file)
    assert max(map(cell_len, lines)) <= width
    text = "".join(line.strip().removeprefix("│").strip() for line in lines)
    assert "…" not in text
    assert URL in text
    assert str(FILE) in text
    assert "not value]" in text


def test_a_line_of_code_that_fits_a_wide_terminal_stays_one_line() -> None:
    file = io.StringIO()
    lines = printed(Screen(Console(file=file, width=140)), file)
    assert any(CODE.splitlines()[1] in line for line in lines)


def test_the_width_follows_a_terminal_that_is_resized() -> None:
    file = io.StringIO()
    console = Console(file=file, width=100)
    screen = Screen(console)
    assert max(map(cell_len, printed(screen, file))) > 60
    console.width = 60
    assert max(map(cell_len, printed(screen, file))) <= 60
