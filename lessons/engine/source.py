"""The source text of teaching code, as the screen and the notebooks show it.

The shown code leaves out three parts of the source, which do not change what the code does:

- the docstring
- annotations of return types
- comments for tools, such as `# noqa`
"""

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from copy import copy
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Final

LONGEST_LINE: Final = 73
"""The largest number of columns of a line of code. With a line number, the line fits a terminal of 80 columns."""

_FOR_TOOLS: Final = re.compile(r"#\s*(noqa|type:|fmt:|mypy:|ruff:|pragma:)")
_OPEN, _CLOSE = "([{", ")]}"

Place = tuple[int, int]
"""A place in a source text: the line, counted from 1, and the column, counted from 0."""


def _shown(text: str) -> str:
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    hidden = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
    left_out = {line for each in hidden for line in range(each.lineno, (each.end_lineno or each.lineno) + 1)}
    lines = text.splitlines()
    for (first, start), (last, end) in reversed(list(_for_tools_only(text))):
        kept = lines[first - 1][:start].rstrip() + lines[last - 1][end:]
        lines[first - 1 : last] = [kept.rstrip(), *[""] * (last - first)]
        left_out |= set(range(first + 1, last + 1)) | ({first} if not kept.strip() else set())
    return "\n".join(line for number, line in enumerate(lines, start=1) if number not in left_out)


@cache
def _imports(module_file: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    body = ast.parse(module_file.read_text(encoding="utf-8")).body
    return tuple(node for node in body if isinstance(node, ast.Import | ast.ImportFrom))


def _for_tools_only(text: str) -> Iterator[tuple[Place, Place]]:
    arrow, depth = None, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and _FOR_TOOLS.match(token.string):
            yield token.start, token.end
        if token.type != tokenize.OP:
            continue
        if token.string == "->":
            arrow, depth = token.start, 0
        elif arrow:
            depth += (token.string in _OPEN) - (token.string in _CLOSE)
            if token.string == ":" and not depth:
                yield arrow, token.start
                arrow = None


def imports_of(module_file: Path, *, needed_by: str, known: str = "") -> str:
    """Return the source text of a module's top-level imports whose names occur in the code `needed_by`.

    Leave out the names that also occur in the code `known`.
    """
    used = _names(needed_by) - _names(known)
    kept = []
    for node in map(copy, _imports(module_file)):
        node.names = [each for each in node.names if (each.asname or each.name.partition(".")[0]) in used]
        if node.names:
            kept.append(_wrapped(node))
    return "\n".join(kept)


def _names(code: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}


def _wrapped(node: ast.Import | ast.ImportFrom) -> str:
    line = ast.unparse(node)
    if len(line) <= LONGEST_LINE or isinstance(node, ast.Import):
        return line
    names = "".join(f"    {ast.unparse(each)},\n" for each in node.names)
    return f"from {node.module} import (\n{names})"


def defaults_of(function: Callable[..., object]) -> dict[str, object]:
    """Return the default values of a function's parameters, by name. Leave out parameters without a default."""
    assert isinstance(function, FunctionType)
    parameters = inspect.signature(function).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not each.empty}


@cache
def read_functions(module_file: Path) -> dict[str, str]:
    """Return the code of each function and class of a file as the screen shows it, by name, without importing it."""
    text = module_file.read_text(encoding="utf-8")
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found[node.name] = _shown("\n".join(text.splitlines()[first - 1 : node.end_lineno]))
    return found
