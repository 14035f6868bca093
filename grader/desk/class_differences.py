"""Name what may differ when the class is graded: modules that are missing there, and a sandbox that is missing here."""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

from grader.hand_ins import originals
from grader.hand_ins.collect import submission_of
from grader.isolation import sandbox
from harness import syntax

NO_SANDBOX = (
    "This machine has no sandbox, so check cannot notice if your code uses other files, the network or other programs. "
    "When your class is graded, it cannot use them."
)
KIT = frozenset({"grader", "harness", "lessons", "solutions"})
"""The modules of the kit. They are not there when a class is graded."""


def class_differences(path: Path, lesson: str) -> Iterator[str]:
    """Yield a sentence for each module that a file imports and the graded class may lack, and on a missing sandbox."""
    if sandbox.problem():
        yield NO_SANDBOX
    try:
        tree = syntax.parse(str(submission_of(path, student="you", lesson=lesson).source or ""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    tree.body = [node for node in tree.body if not originals.is_main(node)]
    for name in dict.fromkeys(name.partition(".")[0] for name in _imported(tree)):
        beside = next((each for each in (f"{name}.py", name) if name and (path.parent / each).exists()), "")
        if name in KIT or (beside and path.stem != name):
            what = "is part of the kit" if name in KIT else f"is {path.parent / beside}"
            yield f"When your class is graded, `import {name}` fails: it {what}, and only {path.name} is handed in."
        elif name not in sys.stdlib_module_names and (package := _own_package(name)):
            why = f"fairclock does not install {package}, so ask your instructor whether you may use it"
            yield f"When your class is graded, `import {name}` may fail: {why}."


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""
        elif isinstance(node, ast.Call) and isinstance(name := next(iter(node.args), None), ast.Constant):
            function = getattr(node.func, "attr", "") or getattr(node.func, "id", "")
            if function in {"__import__", "import_module", "run_module"} and isinstance(name.value, str):
                yield name.value


def _own_package(module: str) -> str:
    """Return the installed package that has this module, or "" if fairclock has installed it, or if there is none."""
    if module in {"torch", "numpy", "numba"}:  # the search takes half a second
        return ""
    found = metadata.packages_distributions().get(module, [])
    return "" if {*map(_normal, found)} & _dependencies() else next(iter(found), "")


@cache
def _dependencies() -> set[str]:
    """Return the packages that pip installs for fairclock, also those that other packages need."""
    found, new = set[str](), {"fairclock"}
    while new:
        found |= new
        lines = [line for name in new for line in _requirements(name) if "extra ==" not in line]
        new = {_normal(re.split(r"[^\w.-]", line)[0]) for line in lines} - found
    return found


def _requirements(package: str) -> Sequence[str]:
    try:
        return metadata.requires(package) or ()
    except metadata.PackageNotFoundError:
        return ()


def _normal(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()
