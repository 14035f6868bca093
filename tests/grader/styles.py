"""Honest styles of writing an answer: functions that rewrite the source text of a right one.

Most styles add code from `tests/honest/styles.toml`. `test_restyled` grades a random sample.
"""

import ast
import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from promises import HONEST

from grader import catalogue, paths
from grader.hand_ins.collect import submission_of
from grader.kinds.timing import TIME
from grader.records import Submission
from grader.task import Task, TensorExam

Style = Callable[[str, Sequence[str]], str]
"""A function from a source text and the names of the requested functions to another text."""

TEMPLATES: Final = tomllib.loads((HONEST / "styles.toml").read_text(encoding="utf-8"))


SLOW: Final = "tensors without dimensions"
"""A style of answers that takes several microseconds a number, and so costs points where time is measured."""


def styles_of(task: Task) -> dict[str, Style]:
    """Return the styles that can be applied to the solution of a task, by name."""
    answers = "tensors" if isinstance(task.exam, TensorExam) else "answers"
    parts: tuple[str, ...] = ("above", "below") if task.exam.in_c else ("above", "below", "wraps", answers)
    parts += ("simulated",) if task.simulated else ()
    found = {name: partial(_with, part, lines) for part in parts for name, lines in TEMPLATES[part].items()}
    if task.cost is TIME:
        found.pop(SLOW, None)
    return {**found, **NOTEBOOKS, **REWRITTEN}


def every() -> list[tuple[Task, str]]:
    """Return each task with the name of each style that can be applied to its solution."""
    return [(task, style) for task in catalogue.all_tasks() for style in styles_of(task)]


def restyled(task: Task, style: str, folder: Path) -> Submission:
    """Return the solution of a task in a style, as read from a file that is written to `folder`."""
    text = styles_of(task)[style](paths.solution(task.lesson).read_text(encoding="utf-8"), task.functions)
    file = folder / f"{task.lesson}{'.ipynb' if style in NOTEBOOKS else '.py'}"
    file.write_bytes(text.encode())
    return submission_of(file, student="ada", lesson=task.lesson)


def _with(part: str, lines: str, source: str, names: Sequence[str]) -> str:
    """Return the source with a template above or below it. A line with NAME is repeated for each name."""
    template = f"{TEMPLATES['start'].get(part, '')}{lines}\n".splitlines(keepends=True)
    repeated = [line.replace("NAME", name) for line in template for name in (names if "NAME" in line else names[:1])]
    if part != "above":
        return "".join([source, *repeated])
    docstring, *rest = _statements(source)
    return "".join([docstring, "\n", *repeated, *rest])


def _statements(source: str) -> list[str]:
    """Return the text of each statement at top level, with the comments above it."""
    lines, at, texts = source.splitlines(keepends=True), 0, list[str]()
    for node in ast.parse(source).body:
        texts.append("".join(lines[at : node.end_lineno]))
        at = node.end_lineno or at
    return [*texts, "".join(lines[at:])]


def _percent_cells(source: str, _: Sequence[str]) -> str:
    return "# %% [markdown]\n# Übung\n\n# %%\n" + re.sub(r"^(?=def |class |@)", "# %%\n", source, flags=re.MULTILINE)


def _with_tabs(source: str, _: Sequence[str]) -> str:
    indented = re.sub(r"^(?: {4})+", lambda found: "\t" * (len(found[0]) // 4), source, flags=re.MULTILINE)
    return indented.rstrip("\n")


REWRITTEN: Final[Mapping[str, Style]] = {
    "percent cells": _percent_cells,
    "tabs, and no end of line at the end": _with_tabs,
    "a byte order mark and Windows' line ends": lambda source, _: "\ufeff" + source.replace("\n", "\r\n"),
}
"""Rewritten Python files, by the name of the style."""


def notebook(*cells: str | dict[str, object]) -> str:
    """Return a notebook with these cells: the texts of code cells, or dicts with fields of cells."""
    code: dict[str, object] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    made = [code | ({"source": cell} if isinstance(cell, str) else cell) for cell in cells]
    metadata = {"widgets": {}, "language_info": {"name": "python", "version": "3.99"}, "colab": {"name": None}, "": 0}
    return json.dumps({"cells": made, "nbformat": 4, "nbformat_minor": 4, "metadata": metadata})


def _unusual(source: str, _: Sequence[str]) -> str:
    """Put each statement into a cell, among raw cells, attachments, old outputs and useless fields."""
    outputs = [{"output_type": "error", "ename": "E", "evalue": "", "traceback": []}]
    odd: dict[str, object] = {"metadata": {"tags": ["höchstens", "🦊"], "collapsed": True}, "outputs": outputs}
    first, *rest = [odd | {"source": text.splitlines(keepends=True)} for text in _statements(source)]
    raw: dict[str, object] = {"cell_type": "raw", "metadata": {"format": "text/latex"}, "source": "def f(:"}
    image: dict[str, object] = {"cell_type": "markdown", "attachments": {"a.png": {"image/png": ""}}, "source": ["#"]}
    return notebook(first, raw, image, {"execution_count": 99999, "source": []}, *rest)


MAGICS: Final = "%load_ext autoreload\n%matplotlib inline\n!pip install -q torch\nimport math\n%time x = 1\nmath.e?"
TESTS: Final = "assert {0}\nprint({0})\n{0};", "await __import__('asyncio').sleep(0)", "try:\n    input()\nexcept: pass"

NOTEBOOKS: Final[Mapping[str, Style]] = {
    "a docstring in the first cell": lambda source, _: notebook('"""My homework.\n\nOnly a docstring."""', source),
    "Markdown in the first cell": lambda source, _: notebook({"cell_type": "markdown", "source": "# A"}, "", source),
    "unusual metadata": _unusual,
    "magics and shell lines": lambda source, names: notebook(
        MAGICS, f"%%time\n{source}", f"%timeit -n 1 {names[0]}", "%%bash\nls", names[0], "_"
    ),
    "one cell and its tests": lambda source, names: notebook(source, *(test.format(names[0]) for test in TESTS)),
}
"""Notebooks, by the name of the style."""
