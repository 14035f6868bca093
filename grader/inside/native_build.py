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
from pathlib import Path
from typing import Any

SOURCE = "submission.c"
MOST_CHARACTERS = 6000
"""An answer contains at most this many characters of the compiler's message."""


class FaultError(Exception):
    """A fault of the submission's file. `told` is a word for it, with its line and a message."""

    def __init__(self, kind: str, line: int | None = None, message: str = "") -> None:
        super().__init__(kind)
        self.told = {"fault": kind, "line": line, "message": message}


def c_source(texts: list[tuple[int, str]], name: str) -> str:
    """Return the string that the last of these texts assigns to `name`. Raise `FaultError` if there is none.

    Each text comes with the number of lines above it. A `#line` directive is put before the C source, so that the
    compiler reports the line numbers of the whole file. A text that is not Python matters only if no other text assigns
    the name.
    """
    fault = FaultError("missing")
    for above, text in reversed(texts):
        try:
            body = ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None)
            fault = FaultError("syntax", line and line + above, str(getattr(error, "msg", error)))
            continue
        assigned = [node for node in body if isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets)]
        if assigned:
            value = assigned[-1].value
            if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
                raise FaultError("no string", value.lineno + above)
            return f'#line {value.lineno + above} "{SOURCE}"\n{value.value}\n'
    raise fault


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
