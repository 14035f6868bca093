"""Find the statements of a module that a function uses, directly or indirectly."""

import ast
from collections.abc import Iterator


def reachable(tree: ast.Module, function: str) -> list[ast.stmt]:
    """Return the statements that define a function, and the functions, classes and values of the module that it uses.

    The statements have the same order as in the module. They are found by name.
    """
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
    """Return the line of the last definition of a function at module level, or 0 if there is none."""
    return max((each.lineno for each in tree.body if function in _names(each)), default=0)


def _names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a module-level statement defines, except imported names."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _used(statement: ast.stmt) -> Iterator[str]:
    return (node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
