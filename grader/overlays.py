"""Build the whole text of a submission file that imports definitions from other files of its folder.

`whole` replaces an import such as `from baseline import collect` by the definitions of these names and of every name
that they use.
"""

import ast
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from harness import syntax


def whole(path: Path) -> str:
    """Return the text of a source file, with definitions in place of its imports from files of the same folder.

    A text that is not Python is returned as it is. Raise `ValueError` if two different definitions have the same name,
    because one of them would replace the other.
    """
    source = path.read_text(encoding="utf-8")
    try:
        parts = [(_beside(statement, path), statement, text) for statement, text in _statements(source)]
    except SyntaxError:
        return source
    if not any(taken for taken, _, _ in parts):
        return source
    written: dict[str, str] = {}
    defined: dict[str, str] = {}
    for statement, text in chain.from_iterable(taken or [(one, its_text)] for taken, one, its_text in parts):
        key = ast.dump(statement)
        written.setdefault(key, text)
        for name in _defined(statement):
            if defined.setdefault(name, key) != key:
                raise ValueError(f"{path} defines {name}, and so does a file from which it imports.")
    return "".join(written.values())


def imported(names: Iterable[str], path: Path) -> list[tuple[ast.stmt, str]]:
    """Return the statements of a file that are needed to define `names`, each with its source text."""
    statements = list(_statements(whole(path)))
    needed, found = set(names), set[str]()
    while needed > found:
        found = set(needed)
        needed |= {name for one, _ in statements if found & set(_defined(one)) for name in _used(one)}
    return [(one, text) for one, text in statements if needed & set(_defined(one))]


def _beside(statement: ast.stmt, path: Path) -> list[tuple[ast.stmt, str]]:
    if not isinstance(statement, ast.ImportFrom) or statement.level:
        return []
    file = path.with_name(f"{statement.module}.py")
    return imported((alias.name for alias in statement.names), file) if file.is_file() else []


def _statements(source: str) -> Iterator[tuple[ast.stmt, str]]:
    lines = source.splitlines(keepends=True)
    end = 0
    for statement in syntax.parse(source).body:
        begin, end = end, statement.end_lineno or statement.lineno
        yield statement, "".join(lines[begin:end])


def _defined(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.Assign):
        yield from (node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name))


def _used(statement: ast.stmt) -> Iterator[str]:
    yield from (node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
