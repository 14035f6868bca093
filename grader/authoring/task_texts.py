"""The texts of tasks: all of them as JSON, and those about other ways to solve a task.

The teacher's pack (`python -m lessons guide`) starts `python -m grader.authoring.task_texts` and reads its output. A
way is a right example submission whose docstring ends with a paragraph that begins with "Trade: ". `grader stubs`
writes the texts of all ways.
"""

import ast
import json
import sys
from pathlib import Path
from typing import Final

from grader import catalogue, overlays, ways
from grader.files import write_atomically
from grader.task import Task
from grader.trials import score
from grader.ways import Way
from harness import syntax

_SAME: Final = ("lesson", "name", "summary", "points", "hints", "read", "idea", "references")
TRADE: Final = "Trade: "
MOST_WAYS: Final = 3


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


def ways_in(task: Task) -> tuple[Way, ...]:
    """Return the ways in the docstrings of a task's example submissions, the highest tier first."""
    found = []
    for path in sorted(task.known.glob("tier*.py")):
        text = ast.get_docstring(syntax.parse(path.read_text(encoding="utf-8"))) or ""
        idea, mark, trade = text.partition(f"\n\n{TRADE}")
        if mark:
            found.append(Way(int(path.stem[4]), " ".join(idea.split()), " ".join(trade.split())))
    return tuple(sorted(found, key=lambda way: -way.tier))


def write_ways() -> Path:
    """Write the ways of all tasks, and return the file's path. Raise `WriteError` if the file cannot be written."""
    write_atomically(ways.FILE, ways.as_bytes({task.full_name: ways_in(task) for task in catalogue.all_tasks()}))
    return ways.FILE


def main() -> None:
    """Print the texts of all tasks, in the order of the lessons."""
    json.dump({"tasks": [texts_of(task) for task in catalogue.all_tasks()]}, sys.stdout)


if __name__ == "__main__":
    main()
