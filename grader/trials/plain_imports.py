"""Find the modules to import before a submission's opcodes are counted, because it cannot import any later.

These are the modules that its source text imports and the exercise allows. Further modules are added that these modules
import only when they are used. For example, `Counter.most_common` imports heapq, and `functools.singledispatch` imports
weakref.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from harness import syntax

NEVER: Final = frozenset({"atexit", "gc", "os", "sys"})
"""Modules that must not be imported, because they do more than compute."""

_IMPORT: Final = re.compile(r"^[ \t]*(?:from|import)[ \t]+(.+)$", re.MULTILINE)


def imported(source: str, modules: Sequence[str]) -> list[str]:
    """Return the modules in `modules`, and their submodules, that a source text imports.

    The text is searched and not parsed, so the result may contain a few other modules.
    """
    words = sorted({word for line in _IMPORT.findall(source) for word in re.findall(r"[\w.]+", line)})
    named = [name for name in modules if any(word.partition(".")[0] == name for word in words)]
    return [*named, *(word for word in words if word.partition(".")[0] in named and word not in named if _is_one(word))]


def beforehand(source: str, modules: Sequence[str]) -> list[str]:
    """Return the modules to import before a source text runs. `modules` are the modules that it may import."""
    named = imported(source, modules)
    return list(dict.fromkeys([*named, *(name for each in named for name in later(each))]))


@cache
def later(module: str) -> tuple[str, ...]:
    """Return the modules that a standard library module imports only when it is used: in a function, or lazily."""
    spec = find_spec(module)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return ()
    tree = syntax.parse(Path(spec.origin).read_text(encoding="utf-8"))
    lazy = [node for node in tree.body if getattr(node, "is_lazy", 0)]  # lazy imports exist from Python 3.15 on
    used = [*lazy, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))]
    found = {name for node in used for name in _imports(node)}
    return tuple(sorted(name for name in found - NEVER if _is_one(name)))


def _imports(part: ast.stmt) -> Iterator[str]:
    for node in ast.walk(part):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


@cache
def _is_one(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False
