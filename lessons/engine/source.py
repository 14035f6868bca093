"""The text of teaching code, exactly as it runs: what the screen shows and what a notebook's cells hold.

Docstrings (printed above the code) and the engine's own decorators (`@lesson.…`) are left out; no other
character is touched.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import FunctionType


def code_of(thing: Callable[..., object]) -> str:
    """Return the source of a function or class without docstring and `@lesson.…`, ending in no newline."""
    text = textwrap.dedent(inspect.getsource(thing)).rstrip()
    lines = text.splitlines()
    node = ast.parse(text).body[0]
    if not isinstance(node, ast.FunctionDef | ast.ClassDef):
        raise TypeError(f"{thing!r} is neither a function nor a class, so it has no body to show.")
    first = node.body[0]
    skipped: set[int] = set()
    if ast.get_docstring(node, clean=False) is not None:
        skipped = set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    for decorator in node.decorator_list:
        if ast.unparse(decorator).startswith("lesson."):
            skipped |= set(range(decorator.lineno, (decorator.end_lineno or decorator.lineno) + 1))
    return "\n".join(line for number, line in enumerate(lines, start=1) if number not in skipped)


def prose_of(function: Callable[..., object]) -> str:
    """Return the docstring of a function, its line breaks undone within paragraphs."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def imports_of(module_file: Path, *, needed_by: str) -> str:
    """Return those of a module's top-level imports whose names the code `needed_by` uses."""
    used = {node.id for node in ast.walk(ast.parse(needed_by)) if isinstance(node, ast.Name)}
    kept = []
    for node in ast.parse(module_file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [each for each in node.names if (each.asname or each.name.partition(".")[0]) in used]
            if node.names:
                kept.append(ast.unparse(node))
    return "\n".join(kept)


def defaults_of(function: Callable[..., object]) -> dict[str, object]:
    """Return the keyword parameters of a function with their default values."""
    assert isinstance(function, FunctionType)
    parameters = inspect.signature(function).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not each.empty}
