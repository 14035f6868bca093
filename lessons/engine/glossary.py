"""Functions that print the glossary: one term, or all terms."""

from typing import Final

from rich.console import Console, Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from harness.glossary import Glossary, Term
from lessons.engine.catalogue import FOLDER
from lessons.engine.markup import styled
from lessons.engine.prompts import WIDTH

FILE: Final = FOLDER / "glossary.toml"
COMMAND: Final = "fairclock lessons glossary"


def show(term: Term, console: Console) -> None:
    """Print a term with its meaning, its other names, the lesson that introduces it, and related terms."""
    lines = [Text(term.name, "bold cyan"), styled(term.meaning)]
    if term.also:
        lines.append(Text(f"Also called: {', '.join(term.also)}", "dim"))
    if term.lesson:
        lines.append(Text(f"Lesson: {term.lesson}", "dim"))
    if term.see:
        lines.append(Text(f"See also: {', '.join(term.see)}", "dim"))
    _print(Group(*lines), console)


def show_all(glossary: Glossary, console: Console) -> None:
    """Print each term with its meaning, and the command that prints everything about one term."""
    grid = Grid.grid(padding=(0, 2, 1, 0), pad_edge=False)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for term in glossary.terms:
        grid.add_row(Text(term.name, "cyan"), styled(term.meaning))
    _print(grid, console)
    _print(Text(f"For a term's other names, its lesson and related terms: {COMMAND} TERM", "dim"), console)


def _print(what: RenderableType, console: Console) -> None:
    console.print(what, width=min(console.width, WIDTH))
