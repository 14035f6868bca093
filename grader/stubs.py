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
outside. `python -m grader.stubs` writes all stubs anew, and the list of the notebooks they
are exported as; what is committed equals what is generated.
"""

import ast
import re
import sys

from grader import catalogue, exercise_notebook
from grader.errors import FairclockError

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


def write_all() -> None:
    """Write the stub of every lesson in the catalogue from its solution, and the list of exported notebooks."""
    for lesson in catalogue.load().lessons:
        source = catalogue.solution(lesson).read_text(encoding="utf-8")
        catalogue.stub(lesson).write_text(stub_of(source), encoding="utf-8")
        sys.stdout.write(f"{catalogue.stub(lesson).relative_to(catalogue.KIT)}\n")
    exercise_notebook.LISTING.write_text(exercise_notebook.listing(), encoding="utf-8")
    sys.stdout.write(f"{exercise_notebook.LISTING.relative_to(catalogue.KIT)}\n")


if __name__ == "__main__":
    write_all()
