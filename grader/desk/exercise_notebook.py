"""Write an exercise as a Jupyter notebook: text on the tasks, their code, and cells that check them and show hints.

The first cell's code is below `if __name__ == "__main__"`, which is false during grading. The other cells call magics
of `grader.desk.cells`, which grading skips. The ids of the cells are names from the file, so a new export differs only
where the exercise was changed.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Final

from grader import catalogue, paths
from grader.desk.recognition import LESSON
from grader.errors import UsageError
from grader.files import write_atomically
from grader.hand_ins import originals
from grader.reports.grade_texts import points
from grader.task import Task
from harness import syntax
from harness.storage.notebook_files import Cell, is_unedited, kernel_cell, notebook, stamp_of
from harness.storage.user_files import refuse_edited

_SECTION: Final = re.compile(r"# -{8,}\s*")
_ANNOUNCED: Final = re.compile(r"Task \(\w\), .*\n*")
"""The first line of a section's comment, such as "Task (a), …". The notebook has a heading instead."""

_LONGEST_NAME: Final = 54
"""The maximum number of characters of a name in a cell's id. An id has at most 64 characters."""

FIRST: Final = "# Run this cell first: it makes %check, %hint and %submit work in this notebook."

START: Final = """\
from grader.desk import cells
cells.load()"""

WITHOUT_KIT: Final = """
    for name in ("check", "hint", "submit"):
        get_ipython().register_magic_function(lambda _: print(lacking), magic_name=name)"""

CHECK_WORDS: Final = """\
Save the notebook (Ctrl+S). Then the next cell grades the saved `{task}`. The cell below it shows the next hint."""

SUBMIT_WORDS: Final = """\
## Hand in

Save the notebook. Then the next cell packs all exercises that you changed into `submission.zip`, and shows a link to \
it.

When your class is graded, the cells run in order in a new process. Magics such as `%check` and lines such as `!pip` \
are skipped. In a terminal, `fairclock check {lesson}` grades the saved notebook too."""


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A function, a class or the code between them, with the name that it defines, and the section comment above it."""

    name: str
    section: str
    code: str


def write(lesson: str, out: Path, *, force: bool = False) -> Path:
    """Write the exercise file of a lesson as a notebook to the path `out`, and return `out`.

    Raise `UsageError` if the exercise does not exist, or if `out` may have a student's work and `force` is not set.
    """
    if not (stub := paths.stub(lesson)).is_file():
        raise UsageError(f"{stub} is missing. If you renamed it, copy it from your download of the kit to this place.")
    data = exported(lesson, stub.read_text(encoding="utf-8"))
    refuse_edited(out, force=force, is_ours=lambda path: _is_ours(lesson, path, data))
    write_atomically(out, data)
    return out


def exported(lesson: str, source: str) -> bytes:
    """Return the notebook for the exercise file whose text is `source`. Its metadata names the lesson and its code."""
    stamp = {originals.CODE: originals.code_digest(source), LESSON: lesson}
    return notebook(cells(lesson, source), **stamp)


def _is_ours(lesson: str, path: Path, new: bytes) -> bool:
    began_with = stamp_of(path.read_bytes(), originals.CODE)
    known = {"", originals.listed(lesson), stamp_of(new, originals.CODE)}
    return began_with in known and is_unedited(path, new)


def cells(lesson: str, source: str) -> tuple[Cell, ...]:
    """Return the cells of the notebook for an exercise file whose text is `source`."""
    made, seen, section = list[Cell](), Counter[str](), ""
    tasks = catalogue.load().tasks(lesson)
    to_come, blocks = list(tasks), list(code_blocks(source))

    def add(name: str, kind: str, text: str) -> None:
        """Add a cell. The id of a second cell with the same name gets a number."""
        seen[name] += 1
        made.append(Cell(f"{name}-{seen[name]}" if seen[name] > 1 else name, kind, text))

    def add_checks(task: Task | None) -> None:
        if task:
            add(f"{task.name}-check-words", "markdown", CHECK_WORDS.format(task=task.name))
            add(f"{task.name}-check", "code", f"%check {task.name}")
            add(f"{task.name}-hint", "code", f"%hint {task.name}")

    add("title-words", "markdown", _title(lesson, source))
    start = kernel_cell(START).text + WITHOUT_KIT
    add("kernel", "code", f'{FIRST}\nif __name__ == "__main__":\n{indent(start, "    ")}')
    above: Task | None = None
    for block in blocks:
        section = block.section or section
        if task := next((each for each in to_come if block.name in each.functions), None):
            add_checks(above)
            words = f"{_task_words(task)}\n\n{_ANNOUNCED.sub('', section)}"
            add(f"{task.name}-words", "markdown", words.strip())
            to_come.remove(task)
            section, above = "", task
        add(re.sub(r"[^A-Za-z0-9_]+", "-", block.name)[:_LONGEST_NAME] + "-code", "code", block.code)
    add_checks(above)
    add("submit-words", "markdown", SUBMIT_WORDS.format(lesson=lesson))
    add("submit", "code", "%submit")
    return tuple(made)


def code_blocks(source: str) -> Iterator[CodeBlock]:
    """Yield the code of an exercise file: each function, each class, and the code between them.

    A comment that begins with `# -----` is the text of a section. Raise `UsageError` if the file is not valid Python.
    """
    try:
        lines, tree = source.splitlines(), syntax.parse(source)
    except SyntaxError as error:
        where = f"{error.msg} in line {error.lineno}"
        raise UsageError(f"The exercise file is not valid Python: {where}. Correct this line first.") from None
    body, end = tree.body, 0
    if ast.get_docstring(tree) is not None:
        body, end = body[1:], body[0].end_lineno or 0
    section, between = "", list[str]()
    for node in body:
        start = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        name = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else ""
        gap = lines[end : start - 1]
        is_section = any(_SECTION.fullmatch(line) for line in gap)
        if between and (name or is_section):
            yield _between(section, between)
            section, between = "", []
        if is_section:
            text = [line.removeprefix("#").removeprefix(" ") for line in gap if not _SECTION.fullmatch(line)]
            section, gap = "\n".join(text).strip(), []
        end = node.end_lineno or start
        between += [*gap, *lines[start - 1 : end]]
        if name:
            yield CodeBlock(name, section, "\n".join(between).strip("\n"))
            section, between = "", []
    between += lines[end:]
    if any(line.strip() for line in between):
        yield _between(section, between)


def _between(section: str, lines: Sequence[str]) -> CodeBlock:
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "comment")
    name = "imports" if first.startswith(("import ", "from ")) else first.partition("=")[0].strip()
    return CodeBlock(name, section, "\n".join(lines).strip("\n"))


def _title(lesson: str, source: str) -> str:
    headline, _, rest = (ast.get_docstring(syntax.parse(source)) or lesson).partition("\n")
    blocks = []
    for block in rest.split("\n\n"):
        lines = block.strip("\n").splitlines()
        indented = bool(lines) and all(line.startswith("    ") for line in lines)
        blocks.append("```\n" + "\n".join(line[4:] for line in lines) + "\n```" if indented else block)
    return "\n".join([f"# {headline.rstrip('.')}", "\n\n".join(blocks)])


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
