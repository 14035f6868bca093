"""Name the share of a submission's count that was executed while its file was loaded, before the first call.

Classes, decorators and tables at the top of a file are part of the count (`counted.py` explains why). They can cost a
submission a tier, and nothing in the function shows it.
"""

import ast
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from grader.errors import WorkerFault
from grader.session import Session
from grader.task import Task
from grader.trials.counted_process import NOTHING, SUBMISSION, count
from harness import syntax
from harness.rendering.units import percent

LEAST_SHARE: Final = 0.1
"""The smallest share of loading that the report names."""

LONGEST: Final = 100_000
"""The maximum number of characters of a source text that is parsed. For each, the syntax tree may take 0.7 kB."""

_CHEAP: Final = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.Assign, ast.AnnAssign, ast.Expr)
"""Statements that cost next to nothing while a file is loaded, unless the expressions in them cost more.

The modules that a submission may import have been imported before the count.
"""

_CONSTANT: Final = (ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.UnaryOp)
"""Expressions as in annotations. A large tuple of numbers is a constant of the compiled file, so it costs nothing."""


def is_cheap_to_load(source: str) -> bool:
    """Return whether a file has only imports, constants and functions without decorators.

    Loading any other file may cost much, which only a count shows. The same holds for a text that is too long, or too
    deeply nested for this process.
    """
    if len(source) > LONGEST:
        return False
    try:
        statements = syntax.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(isinstance(statement, _CHEAP) and _is_cheap(statement) for statement in statements)


def _is_cheap(statement: ast.stmt) -> bool:
    computed: list[ast.AST | None] = [statement]
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        if statement.decorator_list:
            return False
        computed = [statement.args, statement.returns]
    return all(_is_constant(node) for part in computed if part for node in ast.walk(part) if isinstance(node, ast.expr))


def _is_constant(part: ast.expr) -> bool:
    """Return whether an expression is a constant, a name, or written with these, such as `-1` or `list[int] | None`."""
    if isinstance(part, ast.BinOp):
        return isinstance(part.op, ast.BitOr)
    return isinstance(part, _CONSTANT)


def remark(
    task: Task, session: Session, runs: Mapping[str, Mapping[str, Any]], taken: int, *, by_valgrind: bool
) -> str:
    """Return a sentence with the share of loading in the count `taken`, or "" if it is below `LEAST_SHARE`.

    `runs` are the processes that were counted, and `taken` is the submission's count without that of the process that
    only returns the answers. Two more processes are counted, which get no calls and no answers. Only one of them loads
    the file. If one of them fails, return "", because the submission's count is known already.
    """
    both = [{**runs[whose], "calls": [], "answers": []} for whose in (SUBMISSION, NOTHING)]
    with ThreadPoolExecutor(len(both)) as side_by_side:
        counts = [side_by_side.submit(count, task, session, each, by_valgrind=by_valgrind) for each in both]
    try:
        loading, empty = (one.result().taken for one in counts)
    except WorkerFault:
        return ""
    share = min((loading - empty) / max(taken, 1), 1.0)
    if share < LEAST_SHARE:
        return ""
    return (
        f"{percent(share, 2)} of the submission's {task.cost} were executed while the file was loaded, before the "
        "first call. Classes, decorators and tables outside the function cause this cost."
    )
