"""The sizes of the exercises: the text and the code that a student reads, and the lines that a student writes.

The list of lessons computes the minutes for an exercise from its size. It cannot count the lines of the exercise file,
because the student edits this file, and a student kit has no solutions. So `python -m grader stubs` writes the sizes of
all exercises to a file (`lessons.engine.catalogue.SIZES`).
"""

import ast
import io
import json
import re
import tokenize
from collections.abc import Mapping
from typing import Final

from harness import syntax

FILE: Final = "sizes.json"
"""The name of the file in the folder of the exercises."""

Size = dict[str, int]
"""The size of an exercise, as it is written to the file."""

_WRITTEN: Final = re.compile(r"# BEGIN SOLUTION\n(.*?)# END SOLUTION", re.DOTALL)


def size_of(stub: str, solution: str) -> Size:
    """Return the size of an exercise from the text of its stub and the text of its solution.

    The size has the numbers of words and of lines of code in the stub, and the number of lines that students write.
    Empty lines and comments do not count as lines.
    """
    tree = syntax.parse(stub)
    documented = (ast.Module, ast.FunctionDef, ast.ClassDef)
    docstrings = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented)]
    tokens = tokenize.generate_tokens(io.StringIO(stub).readline)
    comments = [token.string.strip("# -") for token in tokens if token.type == tokenize.COMMENT]
    prose_lines = sum(_lines(text) for text in docstrings)
    return {
        "words": sum(len(text.split()) for text in (*docstrings, *comments)),
        "code_lines": _lines(stub) - prose_lines,
        "solution_lines": sum(_lines(part) for part in _WRITTEN.findall(solution)),
    }


def _lines(text: str) -> int:
    """Return the number of lines that are not empty and not only a comment."""
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in text.splitlines())


def as_bytes(sizes: Mapping[str, Size]) -> bytes:
    """Return the content of the file for the sizes of these lessons. Each lesson has one line."""
    rows = ",\n".join(f" {json.dumps(lesson)}: {json.dumps(size)}" for lesson, size in sizes.items())
    return f"{{\n{rows}\n}}\n".encode()
