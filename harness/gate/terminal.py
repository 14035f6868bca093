"""Show a run in pytest's terminal summary, as a table that fits the width of the terminal."""

import shutil
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from harness.gate import wording
from harness.gate.outcomes import BenchmarkOutcome, GateRun, GateVerdict

if TYPE_CHECKING:
    import pytest

_COLOURS: Final = {
    GateVerdict.SLOWER: "red",
    GateVerdict.BROKEN: "red",
    GateVerdict.FAILED: "yellow",
    GateVerdict.UNDECIDED: "yellow",
    GateVerdict.VOID: "yellow",
    GateVerdict.NEW: "cyan",
    GateVerdict.SKIPPED: "cyan",
    GateVerdict.FASTER: "green",
}
_HEADS: Final = ("verdict", "change", "interval", "a call", "benchmark")
_PADDED: Final = (str.ljust, str.rjust, str.ljust, str.rjust)
"""How the columns are aligned. The last column, of names, is not padded."""

_NARROWEST_NAME: Final = 16
_CONTINUED: Final = "…"
"""Continues a name on the next line. No line may begin with "::", because GitHub reads it as a command."""


Line = tuple[str, str, str]
"""A line of the summary: its first words, their colour or "", and the rest of the line."""


def show(run: GateRun, terminal: "pytest.TerminalReporter") -> None:
    """Write the run to pytest's terminal, for example in the hook `pytest_terminal_summary`."""
    terminal.section("duel")
    for words, colour, rest in summary(run, shutil.get_terminal_size().columns):
        terminal.write(words, **({colour: True, "bold": True} if colour else {}))
        terminal.write_line(rest)


def summary(run: GateRun, width: int = 80) -> Iterator[Line]:
    """Yield the lines of a run. Only sentences with a command or a long name may be wider than `width`."""
    outcomes, left_out = wording.rows_of(run)
    yield wording.comparison(run), "", ""
    yield from _table(run, outcomes, width) if outcomes else ()
    if left_out:
        yield left_out, "", ""
    for outcome in outcomes:
        reasons = {"Why": wording.text(outcome.why), "Next": wording.next_step(run, outcome)}
        if any(reasons.values()):
            yield outcome.verdict.upper(), _COLOURS.get(outcome.verdict, ""), f" {wording.text(outcome.name)}"
        yield from ((f"  {head}: ", "", reason) for head, reason in reasons.items() if reason)
    yield wording.noise(run), "", ""
    yield (
        wording.headline(run),
        "yellow" if run.is_void else "red" if any(map(run.is_red, run.outcomes)) else "green",
        "",
    )
    if run.is_void:
        yield wording.VOID_NEXT_STEP, "", ""


def _table(run: GateRun, outcomes: list[BenchmarkOutcome], width: int) -> Iterator[Line]:
    folder = _common_folder([outcome.name for outcome in outcomes])
    rows = [_HEADS, *(_cells(run, outcome, folder) for outcome in outcomes)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEADS) - 1)]
    indent = sum(widths) + 2 * len(widths)
    colours = ["", *(_COLOURS.get(outcome.verdict, "") for outcome in outcomes)]
    for (*cells, name), colour in zip(rows, colours, strict=True):
        first, *more = _split(name, max(width - indent, _NARROWEST_NAME))
        verdict, *padded = (pad(cell, size) for pad, cell, size in zip(_PADDED, cells, widths, strict=True))
        yield verdict, colour, "  ".join(["", *padded, first])
        yield from (("", "", " " * indent + part) for part in more)


def _cells(run: GateRun, outcome: BenchmarkOutcome, folder: str) -> tuple[str, ...]:
    measured, interval = wording.changes(outcome.change, outcome.limit(run)) if outcome.change else ("", "")
    cost = wording.call_cost(run, outcome.base if outcome.here is None else outcome.here)
    return outcome.verdict.upper(), measured, interval, cost, wording.text(outcome.name).removeprefix(folder)


def _common_folder(names: list[str]) -> str:
    """Return the folder of all these tests with a slash at its end, or "" if their folders differ."""
    folders = {wording.text(name).partition("::")[0].rpartition("/")[0] for name in names}
    return f"{folders.pop()}/" if len(folders) == 1 and "" not in folders else ""


def _split(name: str, width: int) -> list[str]:
    """Return the parts of a name that are at most `width` columns wide. All but the first begin with "…"."""
    parts, used = [""], 0
    for char in name:
        columns = _columns(char)
        if used + columns > width:
            parts.append(_CONTINUED)
            used = 1
        parts[-1] += char
        used += columns
    return parts


def _columns(char: str) -> int:
    """Return how many columns of a terminal a character takes at most."""
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
