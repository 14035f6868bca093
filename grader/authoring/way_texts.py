"""Write the texts about other ways to solve each task, which students read after full marks.

A way is a right example submission whose docstring ends with a paragraph that begins with "Trade: ". `grader stubs`
writes the texts of all tasks. `grader lint --record` also writes the ratios that it has measured.
"""

import ast
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from grader import catalogue, ways
from grader.files import write_atomically
from grader.task import Task
from grader.ways import TaskWays, Way
from harness import syntax
from harness.machine.environment import Environment

TRADE: Final = "Trade: "
MOST_WAYS: Final = 3
SCENARIOS: Final = "in the simulated scenarios"
SOLUTION: Final = "solution"
"""The name of the reference solution among the measured ratios."""


def marked(task: Task) -> dict[Path, tuple[str, str]]:
    """Return the idea and the trade of each way of a task, by the file of the example submission."""
    found = {}
    for path in sorted(task.known.glob("tier*.py")):
        docstring = ast.get_docstring(syntax.parse(path.read_text(encoding="utf-8"))) or ""
        idea, mark, trade = docstring.partition(f"\n\n{TRADE}")
        if mark:
            found[path] = (" ".join(idea.split()), " ".join(trade.split()))
    return found


def row_name(stem: str) -> str:
    """Return a file name without the expected grade: `blocks` for `tier2_blocks`."""
    return re.sub(r"^tier\d_", "", stem)


def written(task: Task, was: TaskWays, ratios: Mapping[str, float] | None = None) -> TaskWays:
    """Return the ways of a task with their present texts, the largest ratio first.

    `ratios` are the measured ratios by the name of the submission's file. Without them, the recorded ratios in
    `was` are kept, unless a way has none.
    """
    place = was.place
    if ratios is None:
        ratios = {way.name: way.ratio for way in was.ways if way.ratio is not None}
        ratios |= {SOLUTION: was.reference} if was.reference is not None else {}
    else:
        place = SCENARIOS if task.simulated else _here()
        ratios = {row_name(name): float(f"{ratio:.4g}") for name, ratio in ratios.items()}
    texts = {row_name(path.stem): text for path, text in marked(task).items()}
    if not task.tiers or not {*texts, SOLUTION} <= ratios.keys():
        place, ratios = "", {}
    found = [Way(name, *text, ratios.get(name)) for name, text in texts.items()]
    return TaskWays(place, ratios.get(SOLUTION), tuple(sorted(found, key=lambda way: -(way.ratio or 0))))


def _here() -> str:
    """Return words for this machine, the versions and the date."""
    here = Environment.capture(ask_cuda=False)
    torch = here.torch.partition("+")[0]
    return f"on a machine with {here.cpu} (Python {here.python}, torch {torch}, {datetime.now(UTC).date()})"


def write(measured: Mapping[str, Mapping[str, float]] | None = None) -> Path:
    """Write the ways of all tasks, and return the file's path.

    `measured` are the measured ratios of submissions, by the full name of their task. Raise `WriteError` if the file
    cannot be written.
    """
    was = ways.read() if ways.FILE.is_file() else {}
    found = {
        task.full_name: written(task, was.get(task.full_name, TaskWays()), (measured or {}).get(task.full_name))
        for task in catalogue.all_tasks()
    }
    write_atomically(ways.FILE, ways.as_bytes(found))
    return ways.FILE
