"""The scoreboard of `tests/exploits/README.md`: every cheat, its source, and what it gets here and elsewhere.

python tests/grader/scoreboard.py      # writes the table anew from what the files declare
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from promises import EXPLOITS, HANDED_IN, Promised, all_promised

README: Final = EXPLOITS / "README.md"
BEGIN, END = "<!-- table: written by tests/grader/scoreboard.py -->", "<!-- end of the table -->"
HEAD: Final = ("class", "cheat", "source", "naive grader", "here", "stopped by")
NO_FILES: Final = (
    (
        67,
        "[Any local process gives orders to the grader's own cluster](../grader/test_cluster_encryption.py)",
        "",
        "",
        "gets nothing",
        "TLS with a key of each run",
    ),
    (
        68,
        '[Fifty near-clones under `attempts = "best"`](../benchmarks/near_clones.py)',
        "KernelGuard, 2026",
        "",
        "see above",
        "intervals, and the benefit of the doubt ends at 10 %",
    ),
)
"""Attacks that are no file to hand in, with the test or benchmark that tries them."""


def row(one: Promised) -> tuple[int, str, str, str, str, str]:
    """Return the cells of an exploit's row. Where it names no layer, the report's words say which rule it met."""
    link = one.path.relative_to(EXPLOITS).as_posix()
    naive = f"fooled: {one.flaw}" if one.flaw else ""
    here = f"{one.points:g} of {one.task.points:g}, {' or '.join(one.statuses)}"
    return one.row, f"[{one.tries}]({link})", one.source, naive, here, one.layer or f"“{one.says}”"


def table() -> Iterator[str]:
    """Yield the lines of the table, in Markdown."""
    files = [row(one) for one in (*all_promised(EXPLOITS), *all_promised(HANDED_IN))]
    yield f"| {' | '.join(HEAD)} |"
    yield f"| {' | '.join('---' for _ in HEAD)} |"
    for cells in sorted([*files, *NO_FILES]):
        yield f"| {' | '.join(str(cell).replace('|', 'or') or '–' for cell in cells)} |"


def filled(text: str) -> str:
    """Return the page with the table written anew."""
    before, _, rest = text.partition(BEGIN)
    return "\n".join([before + BEGIN, "", *table(), "", END]) + rest.partition(END)[2]


if __name__ == "__main__":
    page = Path(README)
    page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
