"""Which statements of a module a function depends on, by the names that they use."""

import ast
from collections.abc import Iterator


def reachable(tree: ast.Module, function: str) -> list[ast.stmt]:
    """Return the function's definition, and every function, class and value of the module that it uses, in order."""
    defined: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _names(statement):
            defined.setdefault(name, []).append(statement)
    found, waiting = set[str](), [function]
    while waiting:
        name = waiting.pop()
        if name in found or name not in defined:
            continue
        found.add(name)
        waiting += [used for statement in defined[name] for used in _used(statement)]
    return sorted({each for name in found for each in defined[name]}, key=lambda each: (each.lineno, each.col_offset))


def defined_at(tree: ast.Module, function: str) -> int:
    """Return the last line at the top of a module that defines a function, or 0 where none does."""
    return max((each.lineno for each in tree.body if function in _names(each)), default=0)


def _names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement at the top of a module defines, but those that it imports."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _used(statement: ast.stmt) -> Iterator[str]:
    return (node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
