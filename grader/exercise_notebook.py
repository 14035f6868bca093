"""An exercise as a Jupyter notebook: the tasks' text as words, the stub as code cells, a try-out, and how to check it.

The code cells are the exercise file, cut where one idea ends and the next begins. All of them are graded, in their
order (`hand_ins.notebooks`); the cells that only help run under `if __name__ == "__main__"`, which is so in a notebook
and not where it is graded. Cell ids come from names in the file, so that a notebook written anew differs only where
the exercise does.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from grader import catalogue, originals
from grader.errors import UsageError
from grader.files import explained, write_atomically
from grader.records import Cost
from grader.reports.words import points
from grader.task import Task
from grader.tryout import functions_of
from harness.notebook_files import Cell, as_bytes, is_unedited, notebook, stamp_of
from harness.overwriting import refuse_edited

_SECTION: Final = re.compile(r"# -{8,}\s*")
_ANNOUNCED: Final = re.compile(r"Task \(\w\), .*\n*")
"""The first line of a section's comment; a notebook says the same in a heading and a table."""

_LONGEST_ID: Final = 64
_LESS: Final = {
    Cost.TIME: "times as fast",
    Cost.WALL_TIME: "times as fast",
    Cost.SIMULATED_TIME: "times less simulated time",
    Cost.CALLS: "times fewer calls",
    Cost.INSTRUCTIONS: "times fewer instructions",
    Cost.PEAK_MEMORY: "times less memory at the peak",
    Cost.OPCODES: "times fewer opcodes",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of an exercise file: the words of a section's comment, or code and what its first line names."""

    name: str
    words: str
    code: str


def write(lesson: str, out: Path, *, force: bool = False) -> Path:
    """Write the exercise as it stands in the student's file to `out`, and return its path.

    Raises `UsageError` when there is no such exercise, or when `out` may hold a person's work and `force` is not given.
    """
    source = catalogue.stub(lesson).read_text(encoding="utf-8")
    data = exported(lesson, source)
    refuse_edited(out, force=force, is_ours=lambda path: _is_ours(lesson, path, data))
    with explained(out):
        write_atomically(out, data)
    return out


def exported(lesson: str, source: str) -> bytes:
    """Return the notebook file of an exercise's source. Its stamp says which code it began with."""
    made = cells(lesson, catalogue.load().tasks(lesson), source)
    return as_bytes(notebook(made, **{originals.CODE: originals.code_digest(source)}))


def _is_ours(lesson: str, path: Path, new: bytes) -> bool:
    """Return whether a notebook holds no work that `new` lacks: unedited cells, with the code of the stub or of `new`.

    An unedited notebook may still be the only copy of what was once in the exercise file.
    """
    began_with = stamp_of(path.read_bytes(), originals.CODE)
    known = {"", originals.listed(lesson, originals.CODE), stamp_of(new, originals.CODE)}
    return began_with in known and is_unedited(path, new)


def cells(lesson: str, tasks: Sequence[Task], source: str) -> tuple[Cell, ...]:
    """Return the cells of an exercise file's `source`. Pure."""
    told: list[Cell] = [Cell("title-words", "markdown", _title(lesson, source))]
    asked = {task.name: functions_of(task) for task in tasks}
    written: set[str] = set()
    section = ""
    for part in parts(source):
        section = part.words or section
        task = next((each for each in tasks if part.name in asked[each.name]), None)
        if task and not written.intersection(asked[task.name]):
            words = f"{_task_words(task)}\n\n{_ANNOUNCED.sub('', section)}"
            told.append(Cell(f"{task.name}-words", "markdown", words.strip()))
            section = ""
        if part.code:
            told.append(Cell(f"{_id(part.name)}-code", "code", part.code))
            written.add(part.name)
    told += [_try_cell(lesson, task, names) for task, names in asked.items()]  # a function's helpers may stand below it
    return tuple(_apart([*told, *_check_cells(lesson)]))


def parts(source: str) -> Iterator[Part]:
    """Cut an exercise file after its docstring: one part a function or class, or a stretch of what is neither.

    A comment that begins with a rule (`# -----`) is a section's words; any other comment stays with its code.
    Raises `UsageError` when the file is no Python.
    """
    lines, tree = source.splitlines(), _parsed(source)
    body = tree.body
    first = 0 if ast.get_docstring(tree) is None else 1
    end, stretch = (body[0].end_lineno or 0) if first else 0, list[str]()
    for node in body[first:]:
        start = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        words, comment = _section_of(lines[end : start - 1])
        defines = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if stretch and (defines or words):
            yield _stretch(stretch)
            stretch = []
        if words:
            yield Part("", words, "")
        end = node.end_lineno or start
        text = [*comment, *lines[start - 1 : end]]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield Part(node.name, "", "\n".join(text).strip("\n"))
        else:
            stretch += text
    stretch += lines[end:]
    if any(line.strip() for line in stretch):
        yield _stretch(stretch)


def listing_row(lesson: str, stub: str) -> dict[str, object]:
    """Return what the committed list says of a lesson whose stub has this text."""
    made = cells(lesson, catalogue.load().tasks(lesson), stub)
    text = json.dumps([[cell.id, cell.kind, cell.text] for cell in made], ensure_ascii=False)
    return {
        "lesson": lesson,
        "cells": [cell.id for cell in made],
        "sha256": originals.text_digest(text),
        originals.STUB: originals.text_digest(stub),
        originals.CODE: originals.code_digest(stub),
    }


def _section_of(gap: Sequence[str]) -> tuple[str, list[str]]:
    """Part what stands before a statement into a section's words and the comment that belongs to the code."""
    if not any(_SECTION.fullmatch(line) for line in gap):
        return "", list(gap)
    comment = [line.removeprefix("#").removeprefix(" ") for line in gap if not _SECTION.fullmatch(line)]
    return "\n".join(comment).strip(), []


def _stretch(lines: Sequence[str]) -> Part:
    text = "\n".join(lines).strip("\n")
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "comment")
    imports = first.startswith(("import ", "from "))
    return Part("imports" if imports else first.partition("=")[0].strip(), "", text)


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise UsageError(
            f"The exercise file is not Python: {error.msg} in line {error.lineno}; fix it first."
        ) from None


def _id(name: str) -> str:
    """Return a name as the format wants an id: ASCII letters, digits, - and _, and room for what is added to it."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", name)[: _LONGEST_ID - 10]


def _apart(cells: Sequence[Cell]) -> Iterator[Cell]:
    """Number the ids that come more than once."""
    seen = Counter[str]()
    for cell in cells:
        seen[cell.id] += 1
        yield replace(cell, id=f"{cell.id}-{seen[cell.id]}") if seen[cell.id] > 1 else cell


def _title(lesson: str, source: str) -> str:
    text = ast.get_docstring(_parsed(source)) or lesson
    headline, _, rest = text.partition("\n")
    return f"# {headline.rstrip('.')}\n{_markdown(rest)}"


def _markdown(text: str) -> str:
    """Return plain text as Markdown: what is indented or set in columns keeps its form."""
    blocks = []
    for block in text.split("\n\n"):
        lines = block.strip("\n").splitlines()
        indented = bool(lines) and all(line.startswith("    ") for line in lines)
        blocks.append("```\n" + "\n".join(line[4:] for line in lines) + "\n```" if indented else block)
    return "\n\n".join(blocks)


def _task_words(task: Task) -> str:
    head = (
        f"## `{task.name}`\n\n{task.summary[:1].upper()}{task.summary[1:]}. {task.read.capitalize()} does this by hand."
    )
    if not task.tiers:
        return f"{head}\n\nA right answer earns {points(task.points)} points."
    rows = [f"| right | {points(task.points * task.correct_share)} |"]
    less = _LESS.get(task.cost, f"times less {task.cost}")
    rows += [f"| right, and {tier.ratio:g} {less} | {points(task.points * tier.share)} |" for tier in task.tiers]
    table = "\n".join(["| your answer | points |", "| --- | ---: |", *rows])
    return f"{head}\n\n{table}\n\nCompared with the exercise's own plain baseline, in the same run."


def _try_cell(lesson: str, task: str, functions: Sequence[str]) -> Cell:
    code = (
        "# One small case, right here. It runs in this notebook only, not where the notebook is graded.\n"
        'if __name__ == "__main__":\n'
        "    from grader.tryout import tryout\n\n"
        f'    tryout("{lesson}", {", ".join(functions)})'
    )
    return Cell(f"{task}-try", "code", code)


def _check_cells(lesson: str) -> tuple[Cell, Cell]:
    file = f"{lesson}.ipynb"
    words = (
        "## Check it\n\nSave the notebook, then run the next cell: it grades what is saved. Or in a terminal, "
        "in this notebook's folder:\n\n"
        f"```\npython -m grader check {file}\npython -m grader check {file} --hint\n```\n\n"
        "Keep the notebook's name. Magics (`%timeit`) and shell lines (`!pip`) cannot be graded: take them out first."
    )
    code = (
        'if __name__ == "__main__":\n'
        "    import subprocess\n"
        "    import sys\n\n"
        f'    check = [sys.executable, "-m", "grader", "check", "{file}"]\n'
        "    done = subprocess.run(check, capture_output=True, text=True)\n"
        "    print(done.stdout or done.stderr)"
    )
    return Cell("check-words", "markdown", words), Cell("check", "code", code)
