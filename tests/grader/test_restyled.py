"""Honest styles of writing an answer, each with one task of each kind. `test_check_as_run` grades them."""

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from playing import find_task, is_right

from grader import catalogue, paths
from grader.hand_ins.collect import submission_of
from grader.records import Submission
from grader.task import Task, TensorExam, ValueExam

Restyle = Callable[[str, Sequence[str]], bytes]
"""A function from a source text and the names of the requested functions to a file's bytes."""

NOTEBOOK: Final = "a notebook with unusual metadata"


def _with_mark_and_crlf(source: str, _: Sequence[str]) -> bytes:
    return b"\xef\xbb\xbf" + source.replace("\n", "\r\n").encode()


def _with_tabs(source: str, _: Sequence[str]) -> bytes:
    indented = re.sub(r"^(?: {4})+", lambda found: "\t" * (len(found[0]) // 4), source, flags=re.MULTILINE)
    return indented.rstrip("\n").encode()


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
    "tabs, and no end of line at the end": _with_tabs,
    "methods of a class": _in_a_class,
    "records and a main part": _with_records_and_a_main,
    NOTEBOOK: _notebook,
}
"""The ways by name. Ways that wrap functions do not change other text, such as the C source of lesson 14."""

SIMULATED = ("repair", "races", "expand")
EXPENSIVE = ("nearest", "checksum")
"""Tasks that measure memory, or compile C."""


def tried() -> Iterator[tuple[Task, str]]:
    """Yield pairs of a task and a style: for each style, a task of each kind. Different styles get different tasks."""
    named = {task.name: task for task in catalogue.all_tasks()}
    timed = [one for one in named.values() if isinstance(one.exam, TensorExam) and one.name not in EXPENSIVE]
    of_values = [one for one in named.values() if isinstance(one.exam, ValueExam)]
    for number, way in enumerate(WAYS):
        names = (SIMULATED[number % 3], EXPENSIVE[number % 2])
        for task in (of_values[number % len(of_values)], timed[number % len(timed)], *(named[name] for name in names)):
            if is_function(task) or WAYS[way] is not _in_a_class:
                yield task, way


def is_function(task: Task) -> bool:
    """Return whether the solution of a task is a Python function with the task's name."""
    defined = ast.parse(paths.solution(task.lesson).read_text(encoding="utf-8")).body
    return task.name in {node.name for node in defined if isinstance(node, ast.FunctionDef)}


def test_each_way_is_read_and_gives_right_answers(tmp_path: Path) -> None:
    task = find_task("18_threads", "races")
    for way in WAYS:
        submission = restyled_solution(task, way, tmp_path)
        assert submission.source is not None, submission.refusal
        assert is_right(task, str(submission.source)), way


def restyled_solution(task: Task, way: str, folder: Path) -> Submission:
    """Return a task's solution in another style, as read from a file in `folder`."""
    source = paths.solution(task.lesson).read_text(encoding="utf-8")
    file = folder / f"{task.lesson}{'.ipynb' if way == NOTEBOOK else '.py'}"
    file.write_bytes(WAYS[way](source, [task.name]))
    return submission_of(file, student="ada", lesson=task.lesson)
