"""Compile the C source that a submission's file contains as a string.

This program runs in its own sandbox and imports only the standard library. Its standard input is a JSON object: the
file's text (or the texts of a notebook's cells, each with the number of lines above it), the string's name, and a
compiler command for each library. The Python code is parsed, not run. The last line that it prints is a JSON object:
`libraries` in base64, or a `fault` of the file with a message.
"""

import ast
import base64
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCE = "submission.c"
MOST_CHARACTERS = 6000
"""An answer contains at most this many characters of the compiler's message."""
METHODS = ("strip", "lstrip", "rstrip", "replace", "join", "format", "removeprefix", "removesuffix")  # of texts


class FaultError(Exception):
    """A fault of the submission's file. `told` is a word for it, with its line and a message."""

    def __init__(self, kind: str, line: int | None = None, message: str = "") -> None:
        super().__init__(kind)
        self.told = {"fault": kind, "line": line, "message": message}


def c_source(texts: list[tuple[int, str]], name: str) -> str:
    """Return the string that the last assignment in these texts gives `name`. Raise `FaultError` if there is none.

    Each text comes with the number of lines above it. A `#line` directive is put before the C source, so that the
    compiler reports the line numbers of the whole file. A text that is not Python matters only if no other text assigns
    the name.
    """
    known: dict[str, Any] = {}
    lines: dict[str, int] = {}
    fault = FaultError("missing")
    for above, text in texts:
        try:
            body = ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None)
            fault = FaultError("syntax", line and line + above, str(getattr(error, "msg", error)))
            continue
        for target, value in (pair for node in body for pair in assignments(node)):
            begun = value.left if isinstance(value, ast.BinOp) else value
            lines[target] = lines.get(begun.id, 0) if isinstance(begun, ast.Name) else value.lineno + above
            try:
                known[target] = constant(value, known)
            except Exception:  # noqa: BLE001 - code that is not run, or a method that refuses its arguments
                known[target] = None
    if name not in known:
        raise fault
    if not isinstance(known[name], str):
        raise FaultError("no string", lines[name])
    return f'#line {lines[name]} "{SOURCE}"\n{known[name]}\n'


def assignments(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield each name that a statement assigns, with the assigned expression."""
    if isinstance(node, ast.Assign):
        yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
        yield node.target.id, node.value
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, ast.BinOp(ast.Name(node.target.id), node.op, node.value, lineno=node.lineno)
    elif isinstance(node, ast.Expr):
        yield from ((each.target.id, each.value) for each in ast.walk(node) if isinstance(each, ast.NamedExpr))


def constant(node: ast.AST, known: dict[str, Any]) -> Any:
    """Return the value of an expression that needs no code of the file: constants, f-strings, sums, methods of texts.

    `known` has the values of names. Raise `ValueError` for any other expression.
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return known[name]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [constant(part, known) for part in parts]
        case ast.JoinedStr(values=parts):
            return "".join(constant(part, known) for part in parts)
        case ast.FormattedValue(value=part, format_spec=form, conversion=-1):
            return format(constant(part, known), constant(form, known) if form else "")
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return constant(left, known) + constant(right, known)
        case ast.Call(func=ast.Name(id="dedent") | ast.Attribute(attr="dedent" | "cleandoc"), args=[text]):
            return textwrap.dedent(constant(text, known))
        case ast.Call(func=ast.Attribute(value=text, attr=method), args=given, keywords=[]) if method in METHODS:
            return getattr(str, method)(constant(text, known), *(constant(each, known) for each in given))
    raise ValueError(ast.dump(node)[:80])


def library(command: list[str], source: str) -> str:
    """Compile a source text, and return the library in base64. If this fails, raise `FaultError` with the message."""
    with tempfile.TemporaryDirectory() as folder:
        file, made, said = Path(folder, SOURCE), Path(folder, "library.so"), Path(folder, "said")
        file.write_bytes(source.encode(errors="replace"))
        with said.open("w+b") as log:
            done = subprocess.run(
                [*command, SOURCE, "-o", str(made)],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TMPDIR": folder},
                check=False,
            )
            log.seek(0)
            words = log.read(MOST_CHARACTERS).decode(errors="replace")
        if done.returncode:
            raise FaultError("compiler", None, words or f"it ended with {done.returncode}")
        return base64.b64encode(made.read_bytes()).decode()


def answer(given: dict[str, Any]) -> dict[str, Any]:
    """Return the compiled libraries for a request, or the fault of the submission's file."""
    try:
        source = c_source(given["texts"], given["name"])
        return {"libraries": {name: library(command, source) for name, command in given["commands"].items()}}
    except FaultError as fault:
        return fault.told


if __name__ == "__main__":
    print("\n" + json.dumps(answer(json.load(sys.stdin))))
