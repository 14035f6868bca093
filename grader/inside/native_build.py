"""Compiles the C source that a submission's file holds as a string. It runs in a sandbox of its own: standard library.

`trials.native` starts this text with a descriptor for the answer, and gives it a JSON object as standard input: the
file's text, the string's name, and a compiler's command for each library to be made. The file's Python is parsed and
not run. The answer is a JSON object: `libraries` in base64, or a `fault` (of the file, or what the compiler `said`).
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
"""How much of what a compiler says is passed on."""


class FaultError(Exception):
    """What is wrong with the file: a kind that `grader.trials.native` knows, and a line."""

    def __init__(self, kind: str, line: int | None = None, message: str = "") -> None:
        super().__init__(kind)
        self.told = {"fault": kind, "line": line, "message": message}


def c_source(text: str, name: str) -> str:
    """The string that is assigned to `name`, with its lines numbered as in the file. Raises `FaultError`."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FaultError("syntax", getattr(error, "lineno", None), str(getattr(error, "msg", error))) from None
    assigned = [node for node in body if isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets)]
    if not assigned:
        raise FaultError("missing")
    value = assigned[-1].value
    if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
        raise FaultError("no string", value.lineno)
    return f'#line {value.lineno} "{SOURCE}"\n{value.value}\n'


def library(command: list[str], source: str, folder: str) -> bytes:
    """Compile a source text. Raises `FaultError` with what the compiler said."""
    file, made, said = Path(folder, SOURCE), Path(folder, "library.so"), Path(folder, "said")
    file.write_bytes(source.encode(errors="replace"))
    with said.open("wb") as log:
        done = subprocess.run(
            [*command, SOURCE, "-o", str(made)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TMPDIR": folder},
            check=False,
        )
    if done.returncode:
        with said.open("rb") as log:
            words = log.read(MOST_CHARACTERS).decode(errors="replace")
        raise FaultError("compiler", None, words or f"it ended with {done.returncode}")
    return made.read_bytes()


def answer(given: dict[str, Any]) -> dict[str, Any]:
    """Every library that was asked for, or what is wrong."""
    try:
        source = c_source(given["text"], given["name"])
        made = {}
        for name, command in given["commands"].items():
            with tempfile.TemporaryDirectory() as folder:
                made[name] = base64.b64encode(library(command, source, folder)).decode()
    except FaultError as fault:
        return fault.told
    return {"libraries": made}


def main() -> None:
    """Read what is wanted, and write the answer on the descriptor that was named."""
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)
    with open(descriptor, "wb") as file:
        file.write(json.dumps(answer(json.load(sys.stdin))).encode())


if __name__ == "__main__":
    main()
