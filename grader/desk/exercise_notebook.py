"""Write an exercise as a Jupyter notebook with text on the tasks, code, cells to try out the code, and a check cell.

The code cells contain the functions and classes of the exercise file. All code cells are graded in their order. The
code in the try-out and check cells is below `if __name__ == "__main__"`, which is true in a notebook and false during
grading. The ids of the cells are names from the file, so a new export differs only where the exercise was changed.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from grader import catalogue, paths
from grader.desk import originals
from grader.errors import UsageError
from grader.files import write_atomically
from grader.reports.grade_texts import points
from grader.task import Task
from harness import syntax
from harness.storage.notebook_files import Cell, as_bytes, is_unedited, notebook, stamp_of
from harness.storage.overwriting import refuse_edited

_SECTION: Final = re.compile(r"# -{8,}\s*")
_ANNOUNCED: Final = re.compile(r"Task \(\w\), .*\n*")
"""The first line of a section's comment, such as "Task (a), …". The notebook has a heading instead."""

_LONGEST_ID: Final = 64


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an exercise file: the text of a section comment, or code with the name that it defines."""

    name: str
    text: str
    code: str


def write(lesson: str, out: Path, *, force: bool = False) -> Path:
    """Write the exercise file of a lesson as a notebook to the path `out`, and return `out`.

    Raise `UsageError` if the exercise does not exist, or if `out` may have a student's work and `force` is not set.
    """
    source = paths.stub(lesson).read_text(encoding="utf-8")
    data = exported(lesson, source)
    refuse_edited(out, force=force, is_ours=lambda path: _is_ours(lesson, path, data))
    write_atomically(out, data)
    return out


def exported(lesson: str, source: str) -> bytes:
    """Return the bytes of the notebook for the exercise file whose text is `source`.

    The notebook's metadata has a digest of the code.
    """
    made = cells(lesson, catalogue.load().tasks(lesson), source)
    return as_bytes(notebook(made, **{originals.CODE: originals.code_digest(source)}))


def _is_ours(lesson: str, path: Path, new: bytes) -> bool:
    """Return whether the notebook at `path` can be replaced without loss of a student's work.

    This holds if its cells are not edited, and its code is that of the unchanged exercise or of the `new` notebook.
    Other code may exist nowhere else, for example if the notebook was exported from an earlier version of the exercise
    file.
    """
    began_with = stamp_of(path.read_bytes(), originals.CODE)
    known = {"", originals.listed(lesson)[originals.CODE], stamp_of(new, originals.CODE)}
    return began_with in known and is_unedited(path, new)


def cells(lesson: str, tasks: Sequence[Task], source: str) -> tuple[Cell, ...]:
    """Return the cells of the notebook for an exercise file whose text is `source`."""
    made: list[Cell] = [Cell("title-words", "markdown", _title(lesson, source))]
    asked = {task.name: task.functions for task in tasks}
    written: set[str] = set()
    section = ""
    for part in parts(source):
        section = part.text or section
        task = next((each for each in tasks if part.name in asked[each.name]), None)
        if task and not written.intersection(asked[task.name]):
            words = f"{_task_words(task)}\n\n{_ANNOUNCED.sub('', section)}"
            made.append(Cell(f"{task.name}-words", "markdown", words.strip()))
            section = ""
        if part.code:
            made.append(Cell(f"{_id(part.name)}-code", "code", part.code))
            written.add(part.name)
    made += [
        _try_cell(lesson, task, names) for task, names in asked.items()
    ]  # after all code, because a helper may be defined below the function that uses it
    return tuple(_numbered([*made, *_check_cells(lesson)]))


def parts(source: str) -> Iterator[Part]:
    """Yield the parts of an exercise file: each function, each class, and the code between them.

    A comment that begins with `# -----` is the text of a section. Other comments stay with their code. Raise
    `UsageError` if the file is not valid Python.
    """
    lines, tree = source.splitlines(), _parsed(source)
    body = tree.body
    first = 0 if ast.get_docstring(tree) is None else 1
    end, between = (body[0].end_lineno or 0) if first else 0, list[str]()
    for node in body[first:]:
        start = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        section, comment = _section_of(lines[end : start - 1])
        defines = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if between and (defines or section):
            yield _between(between)
            between = []
        if section:
            yield Part("", section, "")
        end = node.end_lineno or start
        text = [*comment, *lines[start - 1 : end]]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield Part(node.name, "", "\n".join(text).strip("\n"))
        else:
            between += text
    between += lines[end:]
    if any(line.strip() for line in between):
        yield _between(between)


def _section_of(gap: Sequence[str]) -> tuple[str, list[str]]:
    if not any(_SECTION.fullmatch(line) for line in gap):
        return "", list(gap)
    comment = [line.removeprefix("#").removeprefix(" ") for line in gap if not _SECTION.fullmatch(line)]
    return "\n".join(comment).strip(), []


def _between(lines: Sequence[str]) -> Part:
    text = "\n".join(lines).strip("\n")
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "comment")
    imports = first.startswith(("import ", "from "))
    return Part("imports" if imports else first.partition("=")[0].strip(), "", text)


def _parsed(source: str) -> ast.Module:
    try:
        return syntax.parse(source)
    except SyntaxError as error:
        raise UsageError(
            f"The exercise file is not valid Python: {error.msg} in line {error.lineno}. Correct this line first."
        ) from None


def _id(name: str) -> str:
    """Return a name as a cell id of ASCII letters, digits, - and _, with space for a suffix."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", name)[: _LONGEST_ID - 10]


def _numbered(cells: Sequence[Cell]) -> Iterator[Cell]:
    """Yield the cells with different ids: a number is added to each id that an earlier cell has."""
    seen = Counter[str]()
    for cell in cells:
        seen[cell.id] += 1
        yield replace(cell, id=f"{cell.id}-{seen[cell.id]}") if seen[cell.id] > 1 else cell


def _title(lesson: str, source: str) -> str:
    text = ast.get_docstring(_parsed(source)) or lesson
    headline, _, rest = text.partition("\n")
    return f"# {headline.rstrip('.')}\n{_markdown(rest)}"


def _markdown(text: str) -> str:
    """Return plain text as Markdown. Indented blocks become code blocks."""
    blocks = []
    for block in text.split("\n\n"):
        lines = block.strip("\n").splitlines()
        indented = bool(lines) and all(line.startswith("    ") for line in lines)
        blocks.append("```\n" + "\n".join(line[4:] for line in lines) + "\n```" if indented else block)
    return "\n\n".join(blocks)


def _task_words(task: Task) -> str:
    summary, read = (f"{text[:1].upper()}{text[1:]}" for text in (task.summary, task.read))
    head = f"## `{task.name}`\n\n{summary}. {read} explains it."
    if not task.tiers:
        return f"{head}\n\nA right answer earns {points(task.points)} points."
    rows = [f"| right | {points(task.points * task.correct_share)} |"]
    less = task.cost.gain
    rows += [f"| right, and {tier.ratio:g} {less} | {points(task.points * tier.share)} |" for tier in task.tiers]
    table = "\n".join(["| your answer | points |", "| --- | ---: |", *rows])
    return f"{head}\n\n{table}\n\nYour function is compared with the plain baseline of the exercise, in the same run."


def _try_cell(lesson: str, task: str, functions: Sequence[str]) -> Cell:
    code = (
        "# Try one small case. This cell runs only here and not during grading.\n"
        'if __name__ == "__main__":\n'
        "    from grader.tryout import tryout\n\n"
        f'    tryout("{lesson}", {", ".join(functions)})'
    )
    return Cell(f"{task}-try", "code", code)


def _check_cells(lesson: str) -> tuple[Cell, Cell]:
    file = f"{lesson}.ipynb"
    words = (
        "## Check it\n\nSave the notebook, then run the next cell. This cell grades the saved file. Or use a terminal "
        "in the folder of this notebook:\n\n"
        f"```\npython -m grader check {file}\npython -m grader check {file} --hint\n```\n\n"
        "Do not rename the notebook. Remove magics (`%timeit`) and shell lines (`!pip`): the grader cannot run them."
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
