"""Write the table in `tests/exploits/README.md`: every cheat, its source, and its points here and in other graders.

python tests/grader/scoreboard.py # rewrites the table from the declarations in the files
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from promises import EXPLOITS, Promised, all_promised, promised_attacks

README: Final = EXPLOITS / "README.md"
BEGIN, END = "<!-- table: written by tests/grader/scoreboard.py -->", "<!-- end of the table -->"
HEAD: Final = ("attack class", "cheat", "source", "naive grader", "here", "stopped by")
NO_FILES: Final = (
    (
        68,
        '[Fifty near-clones under `attempts = "best"`](../benchmarks/decisions.py)',
        "KernelGuard, 2026",
        "",
        "see above",
        "intervals, and the benefit of the doubt ends at 10 %",
    ),
    (
        91,
        "[One or two cheats in a right answer: in some calls, in a finalizer, in a cell](../grader/combinations.py)",
        "",
        "",
        "at most the points of the right answer",
        "the layers of the single cheats",
    ),
)
"""Attacks that cannot be handed in as a file, with the test or benchmark that tries them."""


def row(one: Promised) -> tuple[int, str, str, str, str, str]:
    """Return the cells of an exploit's row. Without a declared layer, the last cell quotes the report."""
    link = one.path.relative_to(EXPLOITS).as_posix()
    naive = f"fooled: {one.flaw}" if one.flaw else ""
    here = f"{one.points:g} of {one.task.points:g}, {' or '.join(one.statuses)}"
    number = len(one.variants())
    tries = f"[{one.tries}]({link})" + (f" ({number} variants)" if number > 1 else "")
    return one.attack_class, tries, one.source, naive, here, one.layer or f"“{one.says}”"


def table() -> Iterator[str]:
    """Yield the lines of the table, in Markdown."""
    files = [row(one) for one in (*all_promised(EXPLOITS), *promised_attacks())]
    yield f"| {' | '.join(HEAD)} |"
    yield f"| {' | '.join('---' for _ in HEAD)} |"
    for cells in sorted([*files, *NO_FILES]):
        yield f"| {' | '.join(str(cell).replace('|', 'or') or '–' for cell in cells)} |"


def filled(text: str) -> str:
    """Return the page with a new table."""
    before, _, rest = text.partition(BEGIN)
    return "\n".join([before + BEGIN, "", *table(), "", END]) + rest.partition(END)[2]


if __name__ == "__main__":
    page = Path(README)
    page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
