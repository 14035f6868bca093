"""The texts of all tasks as JSON: points, thresholds, hints, and the explanations of known wrong answers.

The teacher's pack (`python -m lessons guide`) starts `python -m grader.authoring.task_texts` and reads its output,
because lessons do not import the grader.
"""

import ast
import json
import sys

from grader import catalogue, overlays
from grader.task import Task
from grader.trials import score
from grader.trials.known_mistakes import docstring
from harness import syntax

_SAME = ("lesson", "name", "summary", "points", "hints", "read", "idea", "references")


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


def without_docstring(source: str) -> str:
    """Return a Python source text without the docstring of the module."""
    tree = syntax.parse(source)
    if ast.get_docstring(tree) is None:
        return source.strip()
    return "\n".join(source.splitlines()[tree.body[0].end_lineno :]).strip()


def main() -> None:
    """Print the texts of all tasks, in the order of the lessons."""
    json.dump({"tasks": [texts_of(task) for task in catalogue.all_tasks()]}, sys.stdout)


if __name__ == "__main__":
    main()
