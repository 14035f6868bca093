"""Find the imports of an exercise file that work in `check`, and fail when the class is graded."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from grader.hand_ins.collect import submission_of
from harness import syntax

KIT: Final = frozenset({"grader", "harness", "lessons", "solutions"})


def warnings(path: Path, lesson: str) -> Iterator[str]:
    """Yield a sentence for each module that the file at `path` imports and that is not there in the graded class."""
    try:
        tree = syntax.parse(str(submission_of(path, student="you", lesson=lesson).source or ""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for name in dict.fromkeys(name.partition(".")[0] for name in _imported(tree)):
        beside = next((each for each in (f"{name}.py", name) if name and (path.parent / each).exists()), "")
        if name in KIT or (beside and path.stem != name):
            what = "is part of the kit" if name in KIT else f"is {path.parent / beside}"
            yield f"When your class is graded, `import {name}` fails: it {what}, and only {path.name} is handed in."


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""
