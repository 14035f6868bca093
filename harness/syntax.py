"""Parse Python source texts in one thread at a time.

`ast.parse` of Python 3.11 and 3.12 counts the depth of a syntax tree for all threads together. If two threads build
trees at the same time, it may raise "SystemError: AST constructor recursion depth mismatch" (issue 106905 of CPython).
"""

import ast
import threading
import warnings
from types import CodeType
from typing import Final

_ONE_THREAD: Final = threading.Lock()


def parse(source: str) -> ast.Module:
    """Return the syntax tree of a source text, without warnings. Raise `SyntaxError` or `ValueError` for other text."""
    with _ONE_THREAD, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def compiled(tree: ast.Module, file: str) -> CodeType:
    """Return the code of a syntax tree, with the file name of its tracebacks, and without warnings, as `parse`."""
    with _ONE_THREAD, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(tree, file, "exec")
