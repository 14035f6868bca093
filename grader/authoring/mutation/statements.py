"""Replace one statement of a syntax tree: make its condition constant, shorten its loop, or remove it."""

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.authoring.mutation.expressions import OPERATORS


@dataclass(frozen=True, slots=True)
class Other:
    """A replacement for a statement. `words` describe the change if the statement's first line does not show it."""

    node: ast.stmt
    words: str = ""


@dataclass(frozen=True)
class Scope:
    """A function or module-level statement: how often each name is assigned in it, and the statements in its body."""

    names: Mapping[str, int]
    body: Sequence[ast.stmt]

    @classmethod
    def of(cls, statement: ast.stmt) -> "Scope":
        """Return the scope of a function or of another module-level statement."""
        nodes = list(ast.walk(statement))
        names = Counter(node.id for node in nodes if isinstance(node, ast.Name) and _is_stored(node))
        names.update(node.arg for node in nodes if isinstance(node, ast.arg))
        return cls(names, getattr(statement, "body", ()))


def alternatives(block: Sequence[ast.stmt], at: int, scope: Scope) -> Iterator[Other]:
    """Yield the replacements for statement number `at` of a block.

    One replacement is `pass`, unless the function would then always raise `NameError` or return None.
    """
    node = block[at]
    if isinstance(node, ast.If):
        yield from (Other(_with(node, test=ast.Constant(value))) for value in (True, False))
    elif isinstance(node, ast.While):
        yield Other(_with(node, test=ast.Constant(False)))
    elif isinstance(node, ast.AugAssign):
        yield from (Other(_with(node, op=other())) for other in OPERATORS.get(type(node.op), ()))
    elif isinstance(node, ast.Continue):
        yield Other(ast.Break())
    if isinstance(node, ast.For | ast.While):
        yield from _ended_early(node, block[at + 1 :])
    is_end = block is scope.body and at == len(block) - 1 and isinstance(node, ast.Return)
    if not is_end and _can_be_dropped(node, scope.names):
        yield Other(ast.Pass(), "(dropped)")


def _ended_early(loop: ast.For | ast.While, rest: Sequence[ast.stmt]) -> Iterator[Other]:
    """Yield loops that end after the first iteration: by `break`, or by a `return` that follows the loop."""
    yield Other(_with(loop, body=[*loop.body, ast.Break()], orelse=[]), "(ends after its first round)")
    for statement in rest[1:]:  # a return directly after the loop would equal a break
        if isinstance(statement, ast.Return):
            body = [*loop.body, copy.deepcopy(statement)]
            yield Other(_with(loop, body=body, orelse=[]), f"(its first round ends with {ast.unparse(statement)})")


def is_docstring(node: ast.stmt) -> bool:
    """Return whether a statement is only a constant, such as a string or `...`."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _can_be_dropped(node: ast.stmt, names: Mapping[str, int]) -> bool:
    if isinstance(node, ast.Assign):
        return not any(names[name] == 1 for name in _targets(node.targets))
    if isinstance(node, ast.AnnAssign):
        return node.value is not None and not any(names[name] == 1 for name in _targets([node.target]))
    kinds = ast.Expr | ast.AugAssign | ast.For | ast.With | ast.Return | ast.Raise | ast.Delete | ast.Break
    return isinstance(node, kinds) and not is_docstring(node)


def _targets(targets: Sequence[ast.expr]) -> list[str]:
    return [
        node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name) and _is_stored(node)
    ]


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _with(node: ast.stmt, **fields: object) -> ast.stmt:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
