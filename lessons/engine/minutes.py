"""The minutes that a student needs for a lesson and for its exercise, computed from their sizes.

The size of a lesson comes from the source text of its file, without an import. Some texts have one version for each
result of a claim. The student reads only one version, so the size contains only the longest one.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

WORDS_PER_MINUTE: Final = 200
"""The speed of reading text."""

CODE_LINES_PER_MINUTE: Final = 10
"""The speed of reading code: 6 s per line. Empty lines do not count."""

QUESTION_S: Final = 30
"""The time to decide on an answer, after reading the question."""

OWN_LINES_PER_MINUTE: Final = 1
"""The speed of writing a solution: one minute per line, to think of the line, type it and check it."""

STEP_OF_MINUTES: Final = 5
"""Minutes are rounded up to a multiple of this number, because students differ by more than this."""

_VERSIONS: Final = ({"held", "refuted", "unclear"}, {"none", "some", "every"})
"""The names of keyword arguments that contain versions of one text."""

_NOT_SHOWN: Final = {
    *("name", "unit", "fast", "needs", "id", "longest_s", "prerequisites"),
    *("expected", "depends_on", "wrong_reasoning", "before_class"),
}
"""The names of keyword arguments whose strings are not shown as text."""


@dataclass(frozen=True, slots=True)
class Size:
    """The amount of work in a step or a lesson: words and lines of code to read, and questions to answer."""

    words: int = 0
    code_lines: int = 0
    questions: int = 0

    @property
    def minutes(self) -> float:
        """The minutes to read the texts and the code and to answer the questions, without the measurements."""
        reading = self.words / WORDS_PER_MINUTE + self.code_lines / CODE_LINES_PER_MINUTE
        return reading + self.questions * QUESTION_S / 60

    def __add__(self, other: "Size") -> "Size":
        return Size(self.words + other.words, self.code_lines + other.code_lines, self.questions + other.questions)


@dataclass(frozen=True, slots=True)
class ExerciseSize:
    """The amount of work in an exercise: words and code to read, and the lines of the reference solution to write."""

    words: int
    code_lines: int
    solution_lines: int

    @property
    def minutes(self) -> float:
        """The minutes for this exercise."""
        reading = self.words / WORDS_PER_MINUTE + self.code_lines / CODE_LINES_PER_MINUTE
        return reading + self.solution_lines / OWN_LINES_PER_MINUTE


def rounded(minutes: float) -> int:
    """Return minutes, rounded up to a multiple of `STEP_OF_MINUTES`."""
    return STEP_OF_MINUTES * max(1, -int(-minutes // STEP_OF_MINUTES))


def step_sizes(tree: ast.Module, source: str) -> tuple[Size, ...]:
    """Return the size of each step of a lesson, in order, and the size of the text after the last step.

    `tree` is the syntax tree of the lesson's file, and `source` is its text. A step ends with its explanation.
    """
    sizes, lines = [Size()], source.splitlines()
    for node in tree.body:
        sizes[-1] += _size(node, lines)
        if any(mark.endswith(".explain") for mark in _marks(node)):
            sizes.append(Size())
    return tuple(sizes)


def _size(node: ast.stmt, lines: Sequence[str]) -> Size:
    """Return the size of one statement of a lesson's file."""
    marks = _marks(node)
    if isinstance(node, ast.FunctionDef) and "lesson.step" in marks:
        words = _words_of(node.decorator_list) + len((ast.get_docstring(node) or "").split())
        asks = any(each.arg == "predict" for each in _keywords(node.decorator_list))
        return Size(words, _code_lines(node, lines), int(asks))
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and "lesson.given" in marks:
        return Size(code_lines=_code_lines(node, lines))
    if isinstance(node, ast.FunctionDef):
        return Size(_words_of(_body(node)))
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        return Size(_words(node.value))
    return Size()


def _marks(node: ast.stmt) -> set[str]:
    """Return the names of the decorators of a function or class, such as "lesson.step"."""
    if not isinstance(node, ast.FunctionDef | ast.ClassDef):
        return set()
    return {ast.unparse(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list}


def _keywords(decorators: Iterable[ast.expr]) -> Iterator[ast.keyword]:
    for each in decorators:
        if isinstance(each, ast.Call):
            yield from each.keywords


def _body(node: ast.FunctionDef | ast.ClassDef) -> list[ast.stmt]:
    """Return the statements of a function or class without its docstring."""
    return node.body[1:] if ast.get_docstring(node) is not None else node.body


def _code_lines(node: ast.FunctionDef | ast.ClassDef, lines: Sequence[str]) -> int:
    """Return the number of lines of a function or class, without empty lines, decorators and the docstring."""
    shown = [*lines[node.lineno - 1 : node.body[0].lineno - 1]]
    if body := _body(node):
        shown += lines[body[0].lineno - 1 : node.end_lineno]
    return sum(bool(line.strip()) for line in shown)


def _words_of(nodes: Iterable[ast.AST]) -> int:
    return sum(map(_words, nodes))


def _words(node: ast.AST) -> int:
    """Return the number of words in the strings of a statement or an expression, with one version of each text."""
    match node:
        case ast.Constant(value=str(text)):
            return len(text.split())
        case ast.If(body=body, orelse=other):
            return max(_words_of(body), _words_of(other))
        case ast.IfExp(body=one, orelse=other):
            return max(_words(one), _words(other))
        case ast.Call():
            return _words_of_call(node)
        case ast.Dict(values=values):
            return max(map(_words, values), default=0)
        case ast.FormattedValue(value=value):
            return max(1, _words(value))  # a measured value
        case ast.Subscript(value=value):
            return _words(value)  # the string in `found["name"]` is not shown
        case ast.Compare():
            return 0
        case _:
            return _words_of(ast.iter_child_nodes(node))


def _words_of_call(call: ast.Call) -> int:
    named: Mapping[str | None, ast.expr] = {each.arg: each.value for each in call.keywords}
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    versions = next((names for names in _VERSIONS if names <= named.keys()), set())
    words = max((_words(named[name]) for name in versions), default=0)
    words += sum(_words(value) for name, value in named.items() if name not in _NOT_SHOWN | versions)
    for number, argument in enumerate(call.args):
        if number == 0 and called == "claim":
            continue  # the id of a claim
        if isinstance(argument, ast.Dict) and called == "Choice":
            words += _words_of(argument.values)  # the student reads all options
        else:
            words += _words(argument)
    return words + _words(call.func)
