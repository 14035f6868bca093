"""Honest styles of writing an answer: functions that rewrite the source text of a right one.

Most styles add code from `tests/honest/styles.toml`. `test_restyled` grades a random sample.
"""

import ast
import builtins
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from promises import HONEST
from styles_in_c import IN_C

from grader import catalogue, paths
from grader.hand_ins.collect import submission_of
from grader.kinds.timing import TIME
from grader.records import Submission
from grader.task import Task, TensorExam

Style = Callable[[str, Sequence[str]], str]
"""A function from a source text and the names of the requested functions to another text."""

TEMPLATES: Final = tomllib.loads((HONEST / "styles.toml").read_text(encoding="utf-8"))

SLOW: Final = "tensors without dimensions"
"""A style of answers that takes several microseconds a number, and so costs points where time is measured."""


def styles_of(task: Task) -> dict[str, Style]:
    """Return the styles that can be applied to the solution of a task, by name."""
    answers = "tensors" if isinstance(task.exam, TensorExam) else "answers"
    parts: tuple[str, ...] = ("above", "below") if task.exam.in_c else ("above", "below", "wraps", answers)
    parts += ("simulated",) if task.simulated else ()
    found = {name: partial(_with, part, lines) for part in parts for name, lines in TEMPLATES[part].items()}
    if task.cost is TIME:
        found.pop(SLOW, None)
    return {**found, **NOTEBOOKS, **(IN_C if task.exam.in_c else REWRITTEN)}


def every() -> list[tuple[Task, str]]:
    """Return each task with the name of each style that can be applied to its solution."""
    return [(task, style) for task in catalogue.all_tasks() for style in styles_of(task)]


def restyled(task: Task, style: str, folder: Path) -> Submission:
    """Return the solution of a task in a style, as read from a file that is written to `folder`."""
    text = styles_of(task)[style](paths.solution(task.lesson).read_text(encoding="utf-8"), task.functions)
    file = folder / f"{task.lesson}{'.ipynb' if style in NOTEBOOKS else '.py'}"
    file.write_bytes(text.encode())
    return submission_of(file, student="ada", lesson=task.lesson)


def _with(part: str, lines: str, source: str, names: Sequence[str]) -> str:
    """Return the source with a template above or below it. A line with NAME is repeated for each name."""
    template = f"{TEMPLATES['start'].get(part, '')}{lines}\n".splitlines(keepends=True)
    repeated = [line.replace("NAME", name) for line in template for name in (names if "NAME" in line else names[:1])]
    if part != "above":
        return "".join([source, *repeated])
    docstring, *rest = _statements(source)
    return "".join([docstring, "\n", *repeated, *rest])


def _statements(source: str) -> list[str]:
    """Return the text of each statement at top level, with the comments above it."""
    lines, at, texts = source.splitlines(keepends=True), 0, list[str]()
    for node in ast.parse(source).body:
        texts.append("".join(lines[at : node.end_lineno]))
        at = node.end_lineno or at
    return [*texts, "".join(lines[at:])]


class _Annotate(ast.NodeTransformer):
    """Annotates each argument, each result, and each name that the file assigns."""

    def visit_Module(self, node: ast.Module) -> ast.AST:
        node.body = [_annotated(each) for each in node.body]
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = ast.Constant("Answer")
        for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            each.annotation = ast.BinOp(ast.Name("object"), ast.BitOr(), ast.Constant(None))
        return self.generic_visit(node)


def _annotated(node: ast.stmt) -> ast.stmt:
    match node:
        case ast.Assign(targets=[ast.Name() as name]):
            return ast.AnnAssign(name, ast.Constant("object"), node.value, simple=1)
    return node


class _Match(ast.NodeTransformer):
    """Writes `match` for `if`."""

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        cases = [ast.match_case(ast.MatchSingleton(value=True), body=node.body)]
        cases += [ast.match_case(ast.MatchAs(), body=node.orelse)] if node.orelse else []
        return ast.Match(ast.Call(ast.Name("bool"), [node.test], []), cases)


class _Walrus(ast.NodeTransformer):
    """Writes `(name := value)` for `name = value`."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        match node.targets:
            case [ast.Name() as name]:
                return ast.Expr(ast.NamedExpr(name, node.value))
        return node


class _Docstrings(ast.NodeTransformer):
    """Gives each function a docstring of 300 lines, in several scripts."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        lines = "\n".join(f"    :param x{n}: Größe, величина, 大きさ \\ \" ' {{}} %s >>> x{n}" for n in range(300))
        node.body[:0] = [ast.Expr(ast.Constant(f"Return.\n\n{lines}\n    "))]
        return self.generic_visit(node)


class _Rename(ast.NodeTransformer):
    """Renames variables."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self.names.get(node.arg, node.arg)
        return self.generic_visit(node)


def _by(rewrite: ast.NodeTransformer, source: str, _: Sequence[str]) -> str:
    return ast.unparse(ast.fix_missing_locations(rewrite.visit(ast.parse(source))))


def _not_english(source: str, names: Sequence[str]) -> str:
    """Rename the variables of functions, but no name that the file also uses for something else."""
    tree = ast.parse(source)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assigned = {_assigned(each) for node in functions for each in ast.walk(node)}
    fixed: set[str | None] = {*dir(builtins), *names, *(node.name for node in functions)}
    for node in ast.walk(tree):
        fixed |= {getattr(node, field, None) for field in ("attr", "name", "asname") if hasattr(node, field)}
        fixed |= {node.arg} if isinstance(node, ast.keyword) else set()
        fixed |= {*node.names} if isinstance(node, ast.Global | ast.Nonlocal) else set()
    for top in tree.body:
        fixed |= set() if top in functions else {each.id for each in ast.walk(top) if isinstance(each, ast.Name)}
    new = {name: f"größe_значение_数{n}" for n, name in enumerate(sorted(name for name in assigned if name))}
    return ast.unparse(_Rename({name: to for name, to in new.items() if name not in fixed}).visit(tree))


def _assigned(node: ast.AST) -> str | None:
    match node:
        case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
            return name
    return None


def _nested(source: str, names: Sequence[str]) -> str:
    """Define everything in a function that returns the requested functions."""
    made, inside = f"({', '.join(names)},)", [*ast.parse(source).body]
    tree = ast.parse(f"def made():\n    return {made}\n{made} = made()")
    tree.body[0].body[:0] = inside  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _percent_cells(source: str, _: Sequence[str]) -> str:
    return "# %% [markdown]\n# Übung\n\n# %%\n" + re.sub(r"^(?=def |class |@)", "# %%\n", source, flags=re.MULTILINE)


def _with_tabs(source: str, _: Sequence[str]) -> str:
    indented = re.sub(r"^(?: {4})+", lambda found: "\t" * (len(found[0]) // 4), source, flags=re.MULTILINE)
    return indented.rstrip("\n")


REWRITTEN: Final[Mapping[str, Style]] = {
    "annotations everywhere": partial(_by, _Annotate()),
    "match for if": partial(_by, _Match()),
    "walrus for assignments": partial(_by, _Walrus()),
    "heavy docstrings": partial(_by, _Docstrings()),
    "names that are not English": _not_english,
    "functions nested in a function": _nested,
    "percent cells": _percent_cells,
    "tabs, and no end of line at the end": _with_tabs,
    "a byte order mark and Windows' line ends": lambda source, _: "\ufeff" + source.replace("\n", "\r\n"),
}
"""Rewritten Python files, by the name of the style."""


def notebook(*cells: str | dict[str, object]) -> str:
    """Return a notebook with these cells: the texts of code cells, or dicts with fields of cells."""
    code: dict[str, object] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    made = [code | ({"source": cell} if isinstance(cell, str) else cell) for cell in cells]
    metadata = {"widgets": {}, "language_info": {"name": "python", "version": "3.99"}, "colab": {"name": None}, "": 0}
    return json.dumps({"cells": made, "nbformat": 4, "nbformat_minor": 4, "metadata": metadata})


def _unusual(source: str, _: Sequence[str]) -> str:
    """Put each statement into a cell, among raw cells, attachments, old outputs and useless fields."""
    outputs = [{"output_type": "error", "ename": "E", "evalue": "", "traceback": []}]
    odd: dict[str, object] = {"metadata": {"tags": ["höchstens", "🦊"], "collapsed": True}, "outputs": outputs}
    first, *rest = [odd | {"source": text.splitlines(keepends=True)} for text in _statements(source)]
    raw: dict[str, object] = {"cell_type": "raw", "metadata": {"format": "text/latex"}, "source": "def f(:"}
    image: dict[str, object] = {"cell_type": "markdown", "attachments": {"a.png": {"image/png": ""}}, "source": ["#"]}
    return notebook(first, raw, image, {"execution_count": 99999, "source": []}, *rest)


def _in_odd_order(source: str, _: Sequence[str]) -> str:
    """Put the functions into the first cells, with the last one first, unless their definition needs other names."""
    nodes = ast.parse(source).body
    early = {n for n, node in enumerate(nodes) if isinstance(node, ast.FunctionDef) and not any(_evaluated(node))}
    cells = [*enumerate(_statements(source))]
    return notebook(*(text for n, text in cells[::-1] if n in early), *(text for n, text in cells if n not in early))


def _evaluated(node: ast.FunctionDef) -> Iterator[bool]:
    """Yield for each annotation, decorator and default value of a function whether it is no constant."""
    given = node.args
    notes = [each.annotation for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    for note in (*notes, node.returns, *node.decorator_list, *given.defaults, *given.kw_defaults):
        yield not isinstance(note, ast.Constant | None)


MAGICS: Final = "%load_ext autoreload\n%matplotlib inline\n!pip install -q torch\nimport math\n%time x = 1\nmath.e?"
TESTS: Final = "assert {0}\nprint({0})\n{0};", "await __import__('asyncio').sleep(0)", "try:\n    input()\nexcept: pass"

NOTEBOOKS: Final[Mapping[str, Style]] = {
    "a docstring in the first cell": lambda source, _: notebook('"""My homework.\n\nOnly a docstring."""', source),
    "Markdown in the first cell": lambda source, _: notebook({"cell_type": "markdown", "source": "# A"}, "", source),
    "unusual metadata": _unusual,
    "cells in an odd order": _in_odd_order,
    "magics and shell lines": lambda source, names: notebook(
        MAGICS, f"%%time\n{source}", f"%timeit -n 1 {names[0]}", "%%bash\nls", names[0], "_"
    ),
    "one cell and its tests": lambda source, names: notebook(source, *(test.format(names[0]) for test in TESTS)),
}
"""Notebooks, by the name of the style."""
