"""From a solution to the stub that a student edits: an exercise's only hand-written file is its solution.

A solution marks what the student is to write. Everything outside the marks goes into the stub as it is.
Between them, only the stub's own lines do, which stand in comments and keep the indentation they have after
`# STUB: `:

    def double(x):
        # BEGIN SOLUTION
        # STUB: raise NotImplementedError("Return twice x.")
        return 2 * x
        # END SOLUTION

A part without such lines leaves `raise NotImplementedError("Write double.")` inside a function, and nothing
outside. `python -m grader.stubs` writes all stubs anew, and the list of what was written (`grader.originals`); what is
committed equals what is generated.
"""

import ast
import hashlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from grader import catalogue, exercise_notebook, originals
from grader.errors import FairclockError, UsageError
from grader.files import write_atomically
from harness.command import guarded

BEGIN = "# BEGIN SOLUTION"
END = "# END SOLUTION"
KEPT = "# STUB:"


class SolutionError(FairclockError):
    """A solution whose marks do not fit; the message names the line."""


def stub_of(solution: str) -> str:
    """Return the stub's source text; a SolutionError where its marks do not fit or it is no Python."""
    stub: list[str] = []
    part: list[str] | None = None
    begun = 0
    for number, line in enumerate(solution.splitlines(), start=1):
        text = line.strip()
        if text == BEGIN:
            if part is not None:
                raise SolutionError(f"Line {number} begins a solution inside that of line {begun}; end that first.")
            part, begun = [], number
        elif text == END:
            if part is None:
                raise SolutionError(f"Line {number} ends a solution that did not begin; put {BEGIN!r} above it.")
            stub += part or _not_written(stub, _indent(line))
            part = None
        elif part is None:
            stub.append(line)
        elif text.startswith(KEPT):
            part.append((_indent(line) + text.removeprefix(KEPT).removeprefix(" ")).rstrip())
    if part is not None:
        raise SolutionError(f"The solution that begins in line {begun} never ends; put {END!r} below it.")
    source = re.sub(r"\n{4,}", "\n\n\n", "\n".join(stub).rstrip() + "\n")  # what stood between blank lines is gone
    _must_parse(source)
    return source


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _not_written(above: list[str], indent: str) -> list[str]:
    """Return what stands for a part without lines of its own: inside a function, an error that names it."""
    names = [match[1] for line in above if (match := re.match(r"\s*def (\w+)", line))]
    return [f'{indent}raise NotImplementedError("Write {names[-1]}.")'] if indent and names else []


def _must_parse(stub: str) -> None:
    try:
        ast.parse(stub)
    except SyntaxError as error:
        raise SolutionError(
            f"The stub would not be Python: {error.msg} in its line {error.lineno}; add {KEPT!r} lines."
        ) from error


def write_all(*, force: bool = False) -> Iterator[Path]:
    """Write the stub of every lesson from its solution, and the list of what was written; yield each file's path.

    A stub that a person has edited is written only with `force`. All others are written first; then a `UsageError`
    names those that were not.
    """
    lessons = catalogue.load().lessons
    if not all(catalogue.solution(lesson).is_file() for lesson in lessons):
        raise UsageError("This kit has no solutions, so it is a student's: its stubs cannot be written anew.")
    rows, edited = [], []
    for lesson in lessons:
        path, stub = catalogue.stub(lesson), stub_of(catalogue.solution(lesson).read_text(encoding="utf-8"))
        if force or not is_edited(lesson, path, stub):
            write_atomically(path, stub.encode())
            rows.append(exercise_notebook.listing_row(lesson, stub))
            yield path
        else:
            edited.append(str(path.relative_to(catalogue.KIT)))
            rows.append(originals.listed_row(lesson))
    write_atomically(originals.LISTING, originals.as_bytes(rows))
    yield originals.LISTING
    if edited:
        raise UsageError(
            f"{', '.join(edited)} differs from what was last written there, so somebody has edited it. It was left as "
            "it is, and all others were written. To overwrite it too: python -m grader.stubs --force"
        )


def is_edited(lesson: str, path: Path, stub: str) -> bool:
    """Return whether a person has edited an exercise file: it is neither `stub` nor what the list says was written."""
    if not path.exists():
        return False
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return digest not in {originals.text_digest(stub), originals.listed(lesson, originals.STUB)}


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def command(
    force: Annotated[bool, typer.Option("--force", help="Overwrite exercises that somebody has edited.")] = False,
) -> int:
    """Write all exercise stubs anew from the solutions."""
    for path in write_all(force=force):
        print(path.relative_to(catalogue.KIT), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(guarded(app, "python -m grader.stubs", sys.argv[1:]))
