"""List all small changes of a syntax tree. Each change is made in the tree itself and undone later."""

import ast
import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from grader.authoring.mutation import expressions, statements
from grader.authoring.mutation.statements import Scope

UNCHANGED: Final = frozenset({"annotation", "returns", "decorator_list", "type_params", "bases"})
"""Fields of syntax tree nodes that are left unchanged, because the answer does not depend on them."""

BLOCKS: Final = (ast.stmt, ast.match_case, ast.ExceptHandler)


@dataclass(frozen=True)
class Edit:
    """One small change of a syntax tree: `node` replaces the node at `place` and `key`.

    `was` is the changed statement before the change. `words` describe the change if the changed statement does not show
    it. `belongs_to` is the statement that contains the changed expression.
    """

    tree: ast.Module
    place: Any
    key: Any
    node: ast.AST
    line: int
    was: str
    words: str
    belongs_to: ast.AST | None

    @property
    def now(self) -> str:
        """The statement after the change. It is valid only inside `with edit.applied()`."""
        if self.words:
            return self.words
        return headline(self.node if self.belongs_to is None else self.belongs_to)

    @contextmanager
    def applied(self) -> Iterator[str]:
        """Make the change, yield the text of the whole module, and undo the change after the `with` block."""
        before = _get(self.place, self.key)
        _set(self.place, self.key, self.node)
        try:
            yield written(self.tree)
        finally:
            _set(self.place, self.key, before)


def written(tree: ast.Module) -> str:
    """Return a syntax tree as a source text, without comments."""
    return ast.unparse(tree)


def is_valid(source: str) -> bool:
    """Return whether a source text compiles."""
    try:
        compile(source, "mutant.py", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def headline(node: ast.AST) -> str:
    """Return the first line of a statement's source text."""
    if isinstance(node, BLOCKS) and hasattr(node, "body"):
        node = copy.copy(node)
        for field, empty in (("body", [ast.Pass()]), ("orelse", []), ("finalbody", []), ("decorator_list", [])):
            if hasattr(node, field):
                setattr(node, field, empty)
    return ast.unparse(node).strip().partition("\n")[0]


def edits(tree: ast.Module, statement: ast.stmt) -> Iterator[Edit]:
    """Yield all small changes of a module-level statement and of the statements and expressions in it."""
    yield from _of_statement(tree, tree.body, tree.body.index(statement), Scope.of(statement))


def _of_statement(tree: ast.Module, block: list[ast.stmt], at: int, scope: Scope) -> Iterator[Edit]:
    statement = block[at]
    if isinstance(statement, ast.FunctionDef):
        scope = Scope.of(statement)
    elif not isinstance(statement, ast.ClassDef):
        was = headline(statement)
        for other in statements.alternatives(block, at, scope):
            yield Edit(tree, block, at, other.node, statement.lineno, was, other.words, None)
    if not isinstance(statement, ast.Raise | ast.Assert) and not statements.is_docstring(statement):
        yield from _of_fields(tree, statement, statement, scope)


def _of_fields(tree: ast.Module, node: ast.AST, line: ast.AST, scope: Scope) -> Iterator[Edit]:
    for field, value in ast.iter_fields(node):
        if field in UNCHANGED:
            continue
        if isinstance(value, list):
            for at, each in enumerate(value):
                yield from _of_child(tree, (value, at), each, node, line, scope)
        else:
            yield from _of_child(tree, (node, field), value, node, line, scope)


def _of_child(
    tree: ast.Module, place: tuple[Any, Any], node: Any, parent: ast.AST, line: ast.AST, scope: Scope
) -> Iterator[Edit]:
    if isinstance(node, ast.stmt):
        yield from _of_statement(tree, *place, scope)
    elif isinstance(node, ast.match_case | ast.ExceptHandler):
        yield from _of_fields(tree, node, node, scope)
    elif isinstance(node, ast.AST) and not _is_formatted_text(node, parent):
        if isinstance(node, ast.expr):
            was = headline(line)
            for other in expressions.alternatives(node):
                yield Edit(tree, *place, other, node.lineno, was, "", line)
        yield from _of_fields(tree, node, line, scope)


def _is_formatted_text(node: ast.AST, parent: ast.AST) -> bool:
    """Return whether a node is text or a format specification in an f-string."""
    return isinstance(parent, ast.JoinedStr | ast.FormattedValue) and isinstance(node, ast.Constant | ast.JoinedStr)


def _get(place: Any, key: Any) -> Any:
    return place[key] if isinstance(place, list) else getattr(place, key)


def _set(place: Any, key: Any, node: ast.AST) -> None:
    if isinstance(place, list):
        place[key] = node
    else:
        setattr(place, key, node)
