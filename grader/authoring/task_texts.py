"""The texts of tasks: all of them as JSON, and those about other ways to solve a task.

The teacher's pack (`python -m lessons guide`) starts `python -m grader.authoring.task_texts` and reads its output. A
way is a right example submission whose docstring ends with a paragraph that begins with "Trade: ". `grader stubs`
writes the texts of all ways, and `grader lint --record` also the measured ratios.
"""

import ast
import json
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from grader import catalogue, overlays, ways
from grader.files import write_atomically
from grader.task import Task
from grader.trials import score
from grader.ways import TaskWays, Way
from harness import syntax
from harness.machine.environment import Environment

_SAME: Final = ("lesson", "name", "summary", "points", "hints", "read", "idea", "references")
TRADE: Final = "Trade: "
MOST_WAYS: Final = 3
SCENARIOS: Final = "in the simulated scenarios"
SOLUTION: Final = "solution"
"""The name of the reference solution among the measured ratios."""


def texts_of(task: Task) -> dict[str, object]:
    """Return the texts of one task, as JSON values. The `code` of a wrong answer begins without its docstring."""
    wrong = {path: without_docstring(overlays.whole(path)) for path in task.wrong_answers}
    return {name: getattr(task, name) for name in _SAME} | {
        "points_if_right": task.points * score.share(task, 0),
        "cost": task.cost.name,
        "thresholds": [{"ratio": tier.ratio, "points": task.points * tier.share} for tier in task.tiers],
        "wrong_answers": [
            {"name": path.stem.removeprefix("wrong_"), "explanation": docstring(path), "code": code}
            for path, code in wrong.items()
        ],
    }


def docstring(path: Path) -> str:
    """Return the docstring of the file at `path` as one line of text."""
    text = ast.get_docstring(syntax.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split())


def without_docstring(source: str) -> str:
    """Return a Python source text without the docstring of the module."""
    tree = syntax.parse(source)
    if ast.get_docstring(tree) is None:
        return source.strip()
    return "\n".join(source.splitlines()[tree.body[0].end_lineno :]).strip()


def ways_in(task: Task) -> dict[Path, tuple[str, str]]:
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


def written_ways(task: Task, was: TaskWays, ratios: Mapping[str, float] | None = None) -> TaskWays:
    """Return the ways of a task with their present texts, the largest ratio first.

    `ratios` are the measured ratios by file name. Without them, those in `was` are kept, unless a way has none.
    """
    place = was.place
    if ratios is None:
        ratios = {way.name: way.ratio for way in was.ways if way.ratio is not None}
        ratios |= {SOLUTION: was.reference} if was.reference is not None else {}
    else:
        place = SCENARIOS if task.simulated else _here()
        ratios = {row_name(name): float(f"{ratio:.4g}") for name, ratio in ratios.items()}
    texts = {row_name(path.stem): text for path, text in ways_in(task).items()}
    if not task.tiers or not {*texts, SOLUTION} <= ratios.keys():
        place, ratios = "", {}
    found = [Way(name, *text, ratios.get(name)) for name, text in texts.items()]
    return TaskWays(place, ratios.get(SOLUTION), tuple(sorted(found, key=lambda way: -(way.ratio or 0))))


def _here() -> str:
    here = Environment.capture(ask_cuda=False)
    torch = here.torch.partition("+")[0]
    return f"on a machine with {here.cpu} (Python {here.python}, torch {torch}, {datetime.now(UTC).date()})"


def write_ways(measured: Mapping[str, Mapping[str, float]] | None = None) -> Path:
    """Write the ways of all tasks, and return the file's path.

    `measured` are the measured ratios of submissions by task. Raise `WriteError` if the file cannot be written.
    """
    was = ways.read() if ways.FILE.is_file() else {}
    found = {
        task.full_name: written_ways(task, was.get(task.full_name, TaskWays()), (measured or {}).get(task.full_name))
        for task in catalogue.all_tasks()
    }
    write_atomically(ways.FILE, ways.as_bytes(found))
    return ways.FILE


def main() -> None:
    """Print the texts of all tasks, in the order of the lessons."""
    json.dump({"tasks": [texts_of(task) for task in catalogue.all_tasks()]}, sys.stdout)


if __name__ == "__main__":
    main()
