"""Rewrite a hand-in in honest ways that do not change what it does."""

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

Restyle = Callable[[str, Sequence[str]], bytes]
"""A function from a source text and the names of the requested functions to a file's bytes."""

NOTEBOOK: Final = "a notebook with unusual metadata"


def _with_mark_and_crlf(source: str, _: Sequence[str]) -> bytes:
    return b"\xef\xbb\xbf" + source.replace("\n", "\r\n").encode()


def _in_latin_1(source: str, _: Sequence[str]) -> bytes:
    return f"# -*- coding: latin-1 -*-\n# Übung von Müller, 20 °C\n{source}".encode("latin-1", "replace")


def _with_tabs(source: str, _: Sequence[str]) -> bytes:
    indented = re.sub(r"^(?: {4})+", lambda found: "\t" * (len(found[0]) // 4), source, flags=re.MULTILINE)
    return indented.rstrip("\n").encode()


def _decorated(source: str, names: Sequence[str]) -> bytes:
    decorator = """
import functools

def traced(function):
    @functools.wraps(function)
    def wrapper(*arguments, **named):
        return function(*arguments, **named)
    return wrapper
"""
    return _with_end(source, decorator, [f"{name} = traced({name})" for name in names])


def _in_a_class(source: str, names: Sequence[str]) -> bytes:
    methods = "\n".join(
        f"    def {name}(self, *given):\n        self.calls += 1\n        return self.functions[{name!r}](*given)"
        for name in names
    )
    made = f"""
class Answers:
    def __init__(self, **functions):
        self.functions, self.calls = functions, 0

    def __repr__(self):
        return f"{{self.__class__.__name__}}({{self.calls}} calls)"

{methods}

answers = Answers({", ".join(f"{name}={name}" for name in names)})
"""
    return _with_end(source, made, [f"{name} = answers.{name}" for name in names])


def _logged(source: str, names: Sequence[str]) -> bytes:
    logged = """
try:
    import logging
except ImportError:
    log = None
else:
    log = logging.getLogger(__name__).debug

def logged(function):
    def wrapper(*arguments):
        if log:
            log("called with %d arguments", len(arguments))
        return function(*arguments)
    return wrapper
"""
    return _with_end(source, logged, [f"{name} = logged({name})" for name in names])


def _guarded(source: str, names: Sequence[str]) -> bytes:
    guarded = """
def guarded(function):
    def wrapper(*arguments):
        try:
            return function(*arguments)
        except RecursionError as error:
            raise ValueError("too deep") from error
        finally:
            arguments = None
    return wrapper
"""
    return _with_end(source, guarded, [f"{name} = guarded({name})" for name in names])


def _with_records_and_a_main(source: str, _: Sequence[str]) -> bytes:
    """Add a future import and code with which a student tried the answer: data classes, named tuples, `__main__`."""
    tree = ast.parse(source)
    at = 1 if ast.get_docstring(tree) is not None else 0
    tree.body[at:at] = ast.parse("from __future__ import annotations").body
    tried = """
from collections import namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple

Size = namedtuple("Size", "rows columns", defaults=[1])

class Place(NamedTuple):
    row: int
    column: int = 0

@dataclass(frozen=True, order=True)
class Tried:
    size: Size
    places: tuple[Place, ...] = field(default=())

EXAMPLE = Tried(Size(3), (Place(1), Place(2, 5)))

if __name__ == "__main__":
    print(EXAMPLE)
"""
    return f"{ast.unparse(tree)}\n{tried}".encode()


def _from_a_factory(source: str, names: Sequence[str]) -> bytes:
    """Define everything within one function, which returns the requested functions."""
    tree = ast.parse(source)
    inner = [node for node in tree.body if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")]
    body = ast.unparse(ast.Module(inner, []))
    if '"""' in body or "'''" in body:  # its lines may not be indented
        return source.encode()
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    given = ", ".join(names)
    return f"def make():\n{indented}\n    return ({given},)\n\n({given},) = make()\n".encode()


def _notebook(source: str, _: Sequence[str]) -> bytes:
    """Put each statement into a cell, among raw cells, attachments, old outputs and useless fields."""
    lines = source.splitlines(keepends=True)
    body = ast.parse(source).body
    begins = [
        0,
        *(min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]) - 1 for node in body[1:]),
    ]
    cells: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {"tags": ["höchstens", "🦊"], "collapsed": True, "jupyter": {"outputs_hidden": 1}},
            "outputs": [{"output_type": "error", "ename": "E", "evalue": "", "traceback": []}],
            "source": lines[begin:end] if begin % 2 else "".join(lines[begin:end]),
        }
        for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True)
    ]
    cells[1:1] = [
        {"cell_type": "raw", "metadata": {"format": "text/latex"}, "source": "def f(:"},
        {"cell_type": "markdown", "metadata": {}, "attachments": {"a.png": {"image/png": ""}}, "source": ["# Übung"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 99999, "source": []},
    ]
    metadata = {"widgets": {}, "language_info": {"name": "python", "version": "3.99"}, "colab": {"name": None}, "": 0}
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 4, "metadata": metadata}).encode()


def _with_end(source: str, helpers: str, renamed: Sequence[str]) -> bytes:
    return "\n".join([source, helpers, *renamed, ""]).encode()


WAYS: Final[Mapping[str, Restyle]] = {
    "a byte order mark and Windows' line ends": _with_mark_and_crlf,
    "Latin-1": _in_latin_1,
    "tabs, and no end of line at the end": _with_tabs,
    "a decorator": _decorated,
    "methods of a class": _in_a_class,
    "logging": _logged,
    "try and finally": _guarded,
    "records and a main part": _with_records_and_a_main,
    "functions from a factory": _from_a_factory,
    NOTEBOOK: _notebook,
}
"""The ways by name. Ways that wrap functions do not change other text, such as the C source of lesson 14."""
OF_FUNCTIONS: Final = frozenset({"a decorator", "methods of a class", "logging", "try and finally"})
