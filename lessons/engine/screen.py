"""What the reader sees: every line of a lesson goes through here, and nothing else prints one.

Made for 80 columns and at home in 100; plain text survives when the output is no terminal.
"""

import re
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table as Grid
from rich.text import Text

from harness.tables import Table
from lessons.engine.claim import Claim, Standing
from lessons.engine.predict import BETWEEN

WIDTH = 100
"""Columns at most: a longer line is hard to read."""

INDENT = 3
GUTTER = "{:>4} │ "
"""Before a line of code: its number, or nothing where a long line goes on."""

LEAST = 20
"""Code is not pressed into fewer columns than this."""

_MARKS = {
    Standing.HELD: ("✓", "bold green"),
    Standing.REFUTED: ("✗", "bold red"),
    Standing.INCONCLUSIVE: ("?", "bold yellow"),
    Standing.SKIPPED: ("–", "dim"),
}


def prose(text: str) -> Text:
    """Return text for the screen, with `code` between backticks set as code and the backticks left out."""
    parts = re.split(r"`([^`]+)`", text)
    return Text.assemble(*((part, "cyan" if place % 2 else "") for place, part in enumerate(parts)))


class Screen:
    """A lesson's screen on a rich console. Parts of different kinds are set apart by an empty line."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = ""

    @property
    def _width(self) -> int:
        """Columns to print in: those of the terminal at this moment, for a reader may resize it between two prints."""
        return min(self._console.width, WIDTH)

    def header(self, title: str, times: str, objective: str, machine: str) -> None:
        """Print the lesson's first lines."""
        self._part("header")
        line = Grid.grid(expand=True)
        line.add_column()
        line.add_column(justify="right", no_wrap=True)
        line.add_row(Text(title, "bold"), Text(times, "dim"))
        self._print(line, indent=1)
        self._print(prose(objective), indent=1)
        self._print(Text(f"This machine: {machine}", "dim"), indent=1)

    def open_step(self, number: int, steps: int, title: str, introduction: str) -> None:
        """Print a step's title and the paragraphs above its code."""
        self._part("title")
        self._print(_rule(f"{number} of {steps} · {title}"), indent=0)
        for paragraph in introduction.split("\n\n"):
            self._part("")
            self._print(prose(paragraph))

    def code(self, code: str) -> None:
        """Print code with its line numbers."""
        self._part("")
        highlighter = Syntax("", "python", theme="ansi_dark", background_color="default")
        lines = highlighter.highlight(code).split("\n", allow_blank=False)
        for number, line in enumerate(lines, start=1):
            indent = len(line.plain) - len(line.plain.lstrip())
            room = max(self._console.width - len(GUTTER.format(number)), LEAST)
            first, *rest = line.wrap(self._console, room) if len(line.plain) > room else [line]
            self._code_line(GUTTER.format(number), first)
            hang = min(indent + 4, room // 2)
            for whole in rest:
                for part in whole.wrap(self._console, room - hang):
                    self._code_line(GUTTER.format(""), Text(" " * hang) + part)

    def _code_line(self, gutter: str, line: Text) -> None:
        self._console.print(Text.assemble((gutter, "dim"), line), no_wrap=True, overflow="fold")

    def say(self, text: str) -> None:
        """Print a paragraph."""
        self._part("words")
        self._print(prose(text))

    def ask(self, question: str, offer: str) -> None:
        """Print a question and what may be typed, each answer on a line of its own where one line is too short."""
        self._part("question")
        self._print(Text.assemble(("Predict  ", "bold magenta"), prose(question)))
        if len(offer) + INDENT + 3 > self._width:  # no answer is torn in two
            offer = offer.replace(BETWEEN, "\n")
        self._print(Text(offer), indent=INDENT + 2)

    def read(self) -> str:
        """Wait for one line from the reader."""
        return self._console.input(Text(f"{' ' * INDENT}(Enter skips) > ", "magenta"))

    def wait(self) -> None:
        """Wait until the reader has seen the result of a step."""
        self._part("wait")
        self._console.input(Text(f"{' ' * INDENT}(Enter goes on) > ", "magenta"))

    def goes_on(self, done: int, steps: int) -> bool:
        """Ask whether to go on after the steps that are done; False is to start over."""
        self._part("wait")
        asked = f" You left after step {done} of {steps}. Enter goes on with step {done + 1}; s starts over > "
        while (typed := self._console.input(Text(asked, "magenta")).strip().casefold()) not in {"", "s"}:
            self.note(f"{typed} is neither.")
        return not typed

    def reveal(self, text: str, *, right: bool | None) -> None:
        """Print how the prediction fared."""
        self._part("measured")
        style = {True: "bold green", False: "bold yellow", None: "bold"}[right]
        self._print(Text.assemble(("Measured  ", style), prose(text)))

    def table(self, table: Table) -> None:
        """Print a table under its title."""
        self._part("table")
        self._print(Text(table.title, "dim"))
        grid = table.__rich__()
        for column in grid.columns:
            column.overflow = "fold"  # a long word goes on below, and is not cut
        grid.title, grid.box, grid.show_edge, grid.header_style = None, SIMPLE_HEAD, False, "dim"
        self._print(grid, indent=INDENT - 1)

    def picture(self, text: str, caption: str) -> None:
        """Print a drawing made of characters, its caption above it."""
        self._part("picture")
        self._print(Text(caption, "dim"))
        self._print(Text.from_ansi(text, style="blue") if "\033[" in text else Text(text, "blue"))

    def claim(self, settled: Claim, sentence: str, remark: str) -> None:
        """Print a claim: mark, sentence, measured value."""
        self._part("claim")
        mark, style = _MARKS[settled.standing]
        line = Grid.grid(padding=(0, 2, 0, 0), expand=True)
        line.add_column(width=1)
        line.add_column(ratio=5, overflow="fold")
        line.add_column(ratio=3, overflow="fold")
        reason = f"skipped: {settled.reason}" if settled.standing is Standing.SKIPPED else settled.reason
        words = ", ".join(part for part in (settled.shown, remark, reason) if part)
        line.add_row(Text(mark, style), prose(sentence), Text(words, "dim"))
        self._print(line)

    def closing(self, key_points: Sequence[str], references: Sequence[str]) -> None:
        """Print the key points and references."""
        self._part("closing")
        self._print(_rule("Take along"), indent=0)
        for point in key_points:
            self._listed("·", point)
        self._part("")
        self._print(Text("Read on", "bold"), indent=1)
        for reference in references:
            self._listed(" ", reference)

    def your_turn(self, file: str, command: str) -> None:
        """Print where the exercise is and how to check it."""
        self._part("your turn")
        self._print(Text.assemble(("Your turn   ", "bold"), (file, "cyan")), indent=1)
        self._print(Text.assemble("     then   ", (command, "cyan")), indent=1)

    def note(self, text: str) -> None:
        """Print a remark of the engine's own, such as where a file was written."""
        self._part("note")
        self._print(Text(text, "dim"), indent=1)

    def _part(self, kind: str) -> None:
        """Leave an empty line, but not between two parts of one kind."""
        if not kind or kind != self._last:
            self._console.print()
        self._last = kind

    def _print(self, renderable: RenderableType, *, indent: int = INDENT) -> None:
        self._console.print(Padding(renderable, (0, 1 if indent else 0, 0, indent)), width=self._width)

    def _listed(self, mark: str, text: str) -> None:
        line = Grid.grid(padding=(0, 1, 0, 0))
        line.add_column(width=1)
        line.add_column(overflow="fold")
        line.add_row(mark, prose(text))
        self._print(line)


def _rule(title: str) -> Rule:
    return Rule(Text(title, "bold"), align="left", style="dim")
