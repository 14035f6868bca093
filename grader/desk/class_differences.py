"""Name the modules that a file imports and that may be missing when the class is graded."""

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from grader.hand_ins import originals
from harness import syntax

KIT = frozenset({"grader", "harness", "lessons", "solutions"})
"""The modules of the kit. They are not there when a class is graded."""


def class_differences(path: Path, source: str) -> Iterator[str]:
    """Yield a sentence for each module that the file at `path` imports and the graded class may lack."""
    try:
        tree = syntax.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    tree.body = [node for node in tree.body if not originals.is_main(node)]
    for name in dict.fromkeys(name.partition(".")[0] for name in _imported(tree)):
        if name in sys.stdlib_module_names:  # a file with this name is not used
            continue
        beside = next((each for each in (f"{name}.py", name) if name and (path.parent / each).exists()), "")
        if name in KIT or (beside and path.stem != name):
            what = "is part of the kit" if name in KIT else f"is {path.parent / beside}"
            yield f"When your class is graded, `import {name}` fails: it {what}, and only {path.name} is handed in."
        elif package := _own_package(name):
            why = f"fairclock does not need the package {package}. Ask your instructor"
            yield f"When your class is graded, `import {name}` may fail: {why} whether you may use it."


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def _own_package(module: str) -> str:
    if module in {"torch", "numpy", "numba"}:  # the search takes half a second
        return ""
    found = metadata.packages_distributions().get(module, [])
    return "" if _needed().intersection(map(_normal, found)) else next(iter(found), "")


def _needed() -> set[str]:
    found, unread = set[str](), ["fairclock"]
    while unread:
        with suppress(metadata.PackageNotFoundError):  # for another platform
            lines = metadata.requires(unread.pop()) or ()
            new = {_normal(re.split(r"[^\w.-]", line)[0]) for line in lines if "extra ==" not in line} - found
            found |= new
            unread += new
    return found


def _normal(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()
