"""What the reader sees: every line of a lesson goes through here, and nothing else prints one.

Made for 80 columns and at home in 100; plain text survives when the output is no terminal.
"""

import re
from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table as Grid
from rich.text import Text

from harness.tables import Table
from lessons.engine.claim import Claim, Standing

WIDTH = 100
"""Columns at most: a longer line is hard to read."""

INDENT = 3
_MARKS = {
    Standing.HELD: ("✓", "bold green"),
    Standing.REFUTED: ("✗", "bold red"),
    Standing.INCONCLUSIVE: ("?", "bold yellow"),
}


def prose(text: str) -> Text:
    """Return text for the screen, with `code` between backticks set as code and the backticks left out."""
    parts = re.split(r"`([^`]+)`", text)
    return Text.assemble(*((part, "cyan" if place % 2 else "") for place, part in enumerate(parts)))


class Screen:
    """A lesson's screen on a rich console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        console.width = min(console.width, WIDTH)

    def header(self, title: str, times: str, objective: str, machine: str) -> None:
        """Print the lesson's first lines."""
        self._console.print()
        line = Grid.grid(expand=True)
        line.add_column()
        line.add_column(justify="right", no_wrap=True)
        line.add_row(Text(title, "bold"), Text(times, "dim"))
        self._console.print(Padding(line, (0, 1)))
        self._console.print(Padding(prose(objective), (0, 1)))
        self._console.print(Padding(Text(f"This machine: {machine}", "dim"), (0, 1)))

    def open_step(self, number: int, steps: int, title: str, introduction: str) -> None:
        """Print a step's title and the paragraphs above its code."""
        self._console.print()
        self._console.print(Rule(Text(f"{number} of {steps} · {title}", "bold"), align="left", style="dim"))
        for paragraph in introduction.split("\n\n"):
            self.say(paragraph)

    def code(self, code: str) -> None:
        """Print code with its line numbers."""
        highlighter = Syntax("", "python", theme="ansi_dark", background_color="default")
        lines = highlighter.highlight(code).split("\n", allow_blank=False)
        self._console.print()
        for number, line in enumerate(lines, start=1):
            self._console.print(Text.assemble((f"{number:>4} │ ", "dim"), line), no_wrap=True, overflow="ellipsis")
        self._console.print()

    def say(self, text: str) -> None:
        """Print a paragraph."""
        self._console.print(Padding(prose(text), (0, 1, 0, INDENT)))

    def ask(self, question: str, offer: str) -> None:
        """Print a question and what may be typed."""
        self._console.print(
            Padding(Text.assemble(("Predict  ", "bold magenta"), prose(question)), (0, 1, 0, INDENT))
        )
        self._console.print(Padding(Text(offer), (0, 1, 0, INDENT + 2)))

    def read(self) -> str:
        """Wait for one line from the reader."""
        return self._console.input(Text(" " * INDENT + "(Enter skips) > ", "magenta"))

    def reveal(self, text: str, *, right: bool | None) -> None:
        """Print how the prediction fared."""
        style = {True: "bold green", False: "bold yellow", None: "bold"}[right]
        self._console.print(Padding(Text.assemble(("Measured  ", style), prose(text)), (0, 1, 0, INDENT)))

    def table(self, table: Table) -> None:
        """Print a table."""
        self._console.print(Padding(table.rich(), (0, 1, 0, INDENT)))

    def picture(self, text: str, caption: str) -> None:
        """Print a drawing made of characters, its caption above it."""
        self._console.print(Padding(Text(caption, "dim"), (0, 1, 0, INDENT)))
        self._console.print(Padding(Text(text, "blue"), (0, 1, 0, INDENT)))

    def claim(self, settled: Claim, sentence: str, value: str, remark: str) -> None:
        """Print a claim: mark, sentence, measured value."""
        mark, style = _MARKS[settled.standing]
        line = Grid.grid(padding=(0, 2, 0, 0), expand=True)
        line.add_column(width=1)
        line.add_column(ratio=5)
        line.add_column(ratio=3)
        words = ", ".join(part for part in (value, remark, settled.reason) if part)
        line.add_row(Text(mark, style), prose(sentence), Text(words, "dim"))
        self._console.print(Padding(line, (0, 1, 0, INDENT)))

    def closing(self, key_points: Sequence[str], references: Sequence[str]) -> None:
        """Print the key points and references."""
        self._console.print()
        self._console.print(Rule(Text("Take along", "bold"), align="left", style="dim"))
        for point in key_points:
            self._listed("·", point)
        self._console.print(Padding(Text("Read on", "bold"), (1, 1, 0, 1)))
        for reference in references:
            self._listed(" ", reference)

    def your_turn(self, file: str, command: str) -> None:
        """Print where the exercise is and how to check it."""
        self._console.print()
        self._console.print(Padding(Text.assemble(("Your turn   ", "bold"), (file, "cyan")), (0, 1)))
        self._console.print(Padding(Text.assemble("     then   ", (command, "cyan")), (0, 1)))
        self._console.print()

    def note(self, text: str) -> None:
        """Print a remark of the engine's own, such as where a file was written."""
        self._console.print(Padding(Text(text, "dim"), (0, 1)))

    def _listed(self, mark: str, text: str) -> None:
        line = Grid.grid(padding=(0, 1, 0, 0))
        line.add_column(width=1)
        line.add_column()
        line.add_row(mark, prose(text))
        self._console.print(Padding(line, (0, 1, 0, INDENT)))
