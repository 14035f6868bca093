"""The text of teaching code, exactly as it runs: what the screen shows and what a notebook's cells hold.

Decorators and docstrings are left out of the text (the decorator belongs to the engine, the docstring is printed
above the code); no other character is touched.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import FunctionType


def code_of(thing: Callable[..., object]) -> str:
    """Return the source of a function or class without its decorators and docstring, ending in no newline."""
    text = textwrap.dedent(inspect.getsource(thing))
    lines = text.splitlines()
    node = ast.parse(text).body[0]
    if not isinstance(node, ast.FunctionDef | ast.ClassDef):
        raise TypeError(f"{thing!r} is neither a function nor a class, so it has no body to show.")
    first = node.body[0]
    skipped: set[int] = set()
    if ast.get_docstring(node, clean=False) is not None:
        skipped = set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    kept = [
        line
        for number, line in enumerate(lines, start=1)
        if node.lineno <= number <= (node.end_lineno or 0) and number not in skipped
    ]
    decorators = [line for line in lines[: node.lineno - 1] if line.startswith("@dataclass")]
    return "\n".join(decorators + kept)


def prose_of(function: Callable[..., object]) -> str:
    """Return the docstring of a function, its line breaks undone within paragraphs."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def imports_of(module_file: Path, *, leaving_out: str) -> str:
    """Return the top-level import statements of a module, but for those from the package `leaving_out`."""
    text = module_file.read_text(encoding="utf-8")
    kept = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        if not any(name.partition(".")[0] == leaving_out for name in names):
            kept.append(ast.get_source_segment(text, node) or "")
    return "\n".join(kept)


def defaults_of(function: Callable[..., object]) -> dict[str, object]:
    """Return the keyword parameters of a function with their default values."""
    assert isinstance(function, FunctionType)
    parameters = inspect.signature(function).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not each.empty}
