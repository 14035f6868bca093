"""Make the exercise file that students edit (the stub) from the solution. Only the solution is written by hand.

Marks in a solution enclose the parts that students write. The stub contains all text outside of the marks. Between the
marks, it contains only the lines that begin with `# STUB: `, without these characters and with their indentation:

    def double(x):
        # BEGIN SOLUTION
        # STUB: raise NotImplementedError("Return twice x.")
        return 2 * x
        # END SOLUTION

If a part inside a function has no such lines, the stub gets `raise NotImplementedError("Write double.")`. A part
outside of functions is then left out. `python -m grader stubs` writes all stubs again, a list of the written
stubs (`grader.hand_ins.originals`), the texts about other ways (`grader.authoring.task_texts`), and the record of known
mistakes (`grader.authoring.mistakes`). The committed files equal the generated files.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from grader import catalogue, paths
from grader.authoring import mistakes, task_texts
from grader.errors import UsageError
from grader.files import write_atomically
from grader.hand_ins import originals
from harness import syntax

BEGIN = "# BEGIN SOLUTION"
END = "# END SOLUTION"
KEPT = "# STUB:"
_OTHER = {BEGIN: END, END: BEGIN}


def stub_of(solution: str) -> str:
    """Return the text of the exercise file that students edit, made from a solution's text.

    Raise `UsageError` if a mark has no counterpart, or if the result is not valid Python.
    """
    stub: list[str] = []
    part: list[str] | None = None
    begun = 0
    for number, line in enumerate(solution.splitlines(), start=1):
        text, indent = line.strip(), line[: len(line) - len(line.lstrip())]
        if text == BEGIN and part is None:
            part, begun = [], number
        elif text == END and part is not None:
            stub += part or _not_written(stub, indent)
            part = None
        elif text in {BEGIN, END}:
            raise UsageError(f"Line {number} is {text!r}, but the mark before it must be {_OTHER[text]!r}.")
        elif part is None:
            stub.append(line)
        elif text.startswith(KEPT):
            part.append((indent + text.removeprefix(KEPT).removeprefix(" ")).rstrip())
    if part is not None:
        raise UsageError(f"The solution that begins in line {begun} never ends. Put {END!r} below it.")
    source = re.sub(r"\n{4,}", "\n\n\n", "\n".join(stub).rstrip() + "\n")  # a removed part leaves too many blank lines
    try:
        syntax.parse(source)
    except SyntaxError as error:
        where = f"{error.msg} in line {error.lineno} of the stub"
        advice = f"Add {KEPT!r} lines to the solution."
        raise UsageError(f"The stub would not be valid Python: {where}. {advice}") from error
    return source


def _not_written(above: list[str], indent: str) -> list[str]:
    names = [match[1] for line in above if (match := re.match(r"\s*def (\w+)", line))]
    return [f'{indent}raise NotImplementedError("Write {names[-1]}.")'] if indent and names else []


def write_all() -> Iterator[Path]:
    """Write the stubs of all lessons from their solutions, and the other generated files. Yield each file's path."""
    lessons = catalogue.load().lessons
    paths.require_solutions("stubs", lessons)
    stubs = {lesson: stub_of(paths.solution(lesson).read_text(encoding="utf-8")) for lesson in lessons}
    for lesson, stub in stubs.items():
        write_atomically(paths.stub(lesson), stub.encode())
        yield paths.stub(lesson)
    write_atomically(originals.LISTING, originals.as_bytes(stubs))
    yield originals.LISTING
    yield task_texts.write_ways()
    yield mistakes.write()


def command() -> int:
    """Write all exercise stubs again from the solutions."""
    for path in write_all():
        print(path.relative_to(paths.KIT), flush=True)
    return 0
