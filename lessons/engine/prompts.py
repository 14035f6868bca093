"""The part of a lesson's screen that waits: for the student's answers, and for the end of a measurement."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from harness.rendering.units import seconds
from harness.standard_streams import discard_typed
from lessons.engine.phrases import phrase

INDENT: Final = 3
WIDTH: Final = 100
"""The largest number of columns. Longer lines are hard to read."""

LONG_S: Final = 1.0
"""From this number of seconds on, the line about a running step says how long it takes."""


class Prompts:
    """The prompts of a lesson on a `rich` console. An empty line separates parts of different kinds."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = ""

    def read(self) -> str:
        """Wait until the student has typed a line, and return the line."""
        return self._input(f"{' ' * INDENT}({phrase('Enter skips')}) > ")

    def wait(self) -> None:
        """Wait until the student presses Enter after the result of a step."""
        self._part("wait")
        self._input(f"{' ' * INDENT}({phrase('Enter continues')}) > ")

    def _input(self, asked: str) -> str:
        """Wait for a line. Keys that were pressed during a measurement answer no question, so they are discarded."""
        discard_typed()
        return self._console.input(Text(asked, "magenta"))

    @contextmanager
    def measuring(self, name: str, usual_s: float) -> Iterator[None]:
        """Show on a terminal, inside the `with` block, what runs and how many seconds it usually takes.

        The line does not move, because something that redraws it would disturb the measurement.
        """
        shown = self._console.is_terminal
        if shown:
            lasts = f", about {seconds(usual_s, 1)}" if usual_s >= LONG_S else ""
            self._part("measuring")
            self._console.print(Text(f"{' ' * INDENT}Running {name}{lasts} …", "dim"), end="\r")
        try:
            yield
        finally:
            if shown:
                self._console.control(Control((ControlType.ERASE_IN_LINE, 2)))

    def continues(self, done: int, steps: int) -> bool:
        """Ask the student whether to continue after step `done`, and return the answer. False means to start again."""
        self._part("wait")
        asked = f" You left after step {done} of {steps}. Enter continues with step {done + 1}, s starts at step 1 > "
        while (typed := self._input(asked).strip().casefold()) not in {"", "s"}:
            self._console.print(Text(f" {typed} is not one of the answers.", "dim"))
        return not typed

    def _part(self, kind: str) -> None:
        if not kind or kind != self._last:
            self._console.print()
        self._last = kind
