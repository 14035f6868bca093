"""Compile a user's statements as a part of a template, such as a timing loop, exactly as they are written.

Their syntax tree takes the place of a word in the tree of the template, because another indentation changes multi-line
strings. The names of the template get a dot in front, so that no statement can use them.
"""

import __future__

import ast
import builtins
import importlib
import io
import linecache
import re
import textwrap
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final

from harness import syntax
from harness.errors import UsageError, described
from harness.timeable import checked, finished

FILE: Final = "<statement"
"""The beginning of the file names that tracebacks show for statements, such as "<statement 2>"."""

_INDENTED: Final = re.compile(r"(?:[ \t\f]*(?:#.*)?[\r\n])*[ \t]+[^\s#]")
_REFUSALS: Final = (SyntaxError, ValueError, RecursionError, MemoryError)  # of the compiler
_ONCE: Final = "def statement(finished):\n    SETUP\n    FIRST"
_files: dict[str, str] = {}  # the file name of each source text


def compiled(template: str, **sources: str) -> CodeType:
    """Return the code of a module: the template, with the source `setup` in the place of its name SETUP, and so on.

    FIRST stands for the statement too, but each value that it does not use is passed to the template's function
    `finished`. If a source imports all names of a module with `*`, the template's `import_all` is called with this
    line. Raise `UsageError` if a source is not valid Python, or if the source `statement` is empty.
    """
    bodies: dict[str, list[ast.stmt]] = {}
    future, shared, lines = list[ast.stmt](), list[ast.stmt](), list[str]()
    for what, source in reversed(sources.items()):  # the statement is the last one, so its lines begin with 1
        bodies[what.upper()] = parsed(what, source)
        if what == "statement" and "FIRST" in template:
            bodies["FIRST"] = checked(parsed(what, source))
        for node in bodies[what.upper()]:
            ast.increment_lineno(node, len(lines))
        lines += [*_lines(source), "\n"]
    for what, body in bodies.items():
        future += filter(_is_future, body)
        shared += [node for node in body if isinstance(node, ast.Global)]
        bodies[what] = [_of_module(node) for node in body if not _is_future(node) and node not in shared]
    first = next(iter(sources)).upper()
    bodies[first] = [*shared, *bodies[first]]  # a name must be declared as global before its first use
    file = _files.setdefault("".join(lines), f"{FILE} {len(_files) + 1}>")
    linecache.cache[file] = (len(lines), None, lines, file)
    frame = syntax.parse(template)
    for part in ast.walk(frame):
        if isinstance(part, ast.stmt | ast.expr | ast.arg):  # no line of the sources may be shown for the template
            part.lineno, part.end_lineno, part.col_offset, part.end_col_offset = len(lines) + 1, None, 0, None
    return _compiled(" or ".join(sources), [*future, *_Splice(bodies).visit(frame).body], file, lines)


def function(template: str, names: Mapping[str, object], **sources: str) -> Callable[..., Any]:
    """Return the function that the template defines, as `compiled`. Its global variables are a copy of `names`."""
    names = {"__builtins__": builtins, **names}  # as `exec` does
    names[".import_all"] = lambda line: exec(line, names)  # noqa: S102 - a line of the caller's code
    code = next(each for each in compiled(template, **sources).co_consts if isinstance(each, CodeType))
    return FunctionType(code, names)


def run_once(names: Mapping[str, object], *, setup: str, statement: str) -> None:
    """Run the setup and the statement once. Raise `UsageError` if the work of the statement has not run then."""
    function(_ONCE, names, setup=setup, statement=statement)(finished)


def of_statement(error: BaseException) -> BaseException:
    """Return the exception that user code raised, without the first frames of its traceback, which run the code."""
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, StopIteration):
        return error.__cause__  # a generator runs the code, so Python has replaced the exception
    frames, ours = error.__traceback__, (str(Path(__file__).parent), "<frozen importlib", importlib.__file__)
    while frames and (
        (file := frames.tb_frame.f_code.co_filename).startswith(ours)
        or (file.startswith(FILE) and frames.tb_lineno > len(linecache.getlines(file)))  # a line of the template
    ):
        frames = frames.tb_next
    return error.with_traceback(frames)


def sentence(error: BaseException) -> str:
    """Return an exception of user code as one sentence, with the last line of the user's code that ran."""
    if isinstance(error, UsageError):
        return str(error)
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename.startswith(FILE)]
    return f"{described(error)} in the line {frames[-1].line!r}." if frames else f"{described(error)}."


def parsed(what: str, source: str) -> list[ast.stmt]:
    """Return the syntax trees of Python statements, which may be indented as a whole. Error messages call them `what`.

    Raise `UsageError` if they cannot be compiled alone, such as `break`, or if `what` is "statement" and there is none.
    """
    block, lines = "if True:\n" if _INDENTED.match(source) else "", _lines(source)
    try:
        body = syntax.parse(block + source).body
    except _REFUSALS as error:
        raise _refusal(what, error, [block, *lines] if block else lines) from None
    if block and isinstance(body[0], ast.If):
        if len(body) > 1 or body[0].orelse:
            raise _refusal(what, IndentationError("a line has less indentation than the first one"), lines)
        ast.increment_lineno(body[0], -1)
        body = body[0].body
    _compiled(what, sorted(body, key=_is_future, reverse=True), f"<{what}>", lines)
    if what == "statement" and not body:
        raise UsageError("The statement has no code, so there is nothing to time. Write the code to time, or `pass`.")
    return body


def indented(source: str, indent: str = "") -> str:
    """Return Python code with another indentation. Lines that begin inside a string stay as they are.

    The indentation that all lines share is replaced by `indent`. If the code is not valid Python, so that strings
    cannot be recognised, every line is changed.
    """
    try:
        body = parsed("code", source)
    except UsageError:
        return textwrap.indent(textwrap.dedent(source), indent)
    inside = {
        line
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant | ast.JoinedStr)
        for line in range(node.lineno + 1, (node.end_lineno or 0) + 1)
    }
    margin = body[0].col_offset if body else 0
    lines = (
        line
        if number in inside
        else f"{indent * bool(line.strip())}{line[min(margin, len(line) - len(line.lstrip())) :]}"
        for number, line in enumerate(_lines(source), 1)
    )
    return "".join(lines).rstrip("\n")


class _Splice(ast.NodeTransformer):
    # The bodies are not visited. A function called `statement` keeps its name, which tracebacks show.

    def __init__(self, bodies: Mapping[str, list[ast.stmt]]) -> None:
        self.bodies = bodies

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        body = self.bodies.get(node.value.id) if isinstance(node.value, ast.Name) else None
        return self.generic_visit(node) if body is None else body or ast.copy_location(ast.Pass(), node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = f".{node.id}"
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = f".{node.arg}"
        return node

    def visit_alias(self, node: ast.alias) -> ast.AST:
        node.asname = f".{node.asname or node.name}"
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = node.name if node.name == "statement" else f".{node.name}"
        return self.generic_visit(node)


def _is_future(node: ast.stmt) -> bool:
    known = set(__future__.all_feature_names)
    return isinstance(node, ast.ImportFrom) and node.module == "__future__" and {n.name for n in node.names} <= known


def _of_module(node: ast.stmt) -> ast.stmt:
    # Only a module can import all names of another module.
    if not (isinstance(node, ast.ImportFrom) and node.names[0].name == "*"):
        return node
    call = ast.Call(ast.Name(".import_all", ast.Load()), [ast.Constant(ast.unparse(node))], [])
    return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), node))


def _compiled(what: str, body: list[ast.stmt], file: str, lines: Sequence[str]) -> CodeType:
    try:
        return syntax.compiled(ast.Module(body, []), file)
    except _REFUSALS as error:
        raise _refusal(what, error, lines) from None


def _refusal(what: str, error: Exception, lines: Sequence[str]) -> UsageError:
    reason, number = getattr(error, "msg", str(error)), getattr(error, "lineno", None) or 0
    if isinstance(error, RecursionError | MemoryError):
        reason = "it is nested too deeply"
    if 0 < number <= len(lines):
        reason += f" in the line {lines[number - 1].strip()[:60]!r}"
    hint = " Run a coroutine with asyncio.run(…)." if "async" in reason or "await" in reason else ""
    return UsageError(f"The {what} is not valid Python: {reason}. Correct it and measure again.{hint}")


def _lines(source: str) -> list[str]:
    return [line if line.endswith("\n") else f"{line}\n" for line in io.StringIO(source, newline=None)]
