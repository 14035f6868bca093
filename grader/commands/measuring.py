"""The command `bisect`, which finds the commit that made a statement slower."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from grader.commands.options import Debug


def bisect(
    good: Annotated[str, typer.Argument(metavar="GOOD", help="A revision at which the statement is fast.")],
    bad: Annotated[str, typer.Argument(metavar="BAD", help="A later revision, at which it is slow.")],
    statement: Annotated[str, typer.Argument(metavar="-- STATEMENT", help="The Python statement to time.")],
    setup: Annotated[str, typer.Option(help="Code that runs once before, such as imports.")] = "pass",
    allow: Annotated[
        str | None,
        typer.Option(
            metavar="CHANGE",
            help="The largest change that is not slower, such as 3%. Default: half of BAD's.",
        ),
    ] = None,
    debug: Debug = False,
) -> int:
    """Find the first commit of a git repository that made a statement slower."""
    from harness.gate import bisect as search  # noqa: PLC0415 - imported only if needed
    from harness.gate.settings import number  # noqa: PLC0415

    allowed = None if allow is None else number("--allow", allow, most=10)
    tell = partial(print, file=sys.stderr, flush=True)
    print(search.bisect(Path.cwd(), good, bad, statement, setup, allowed, tell))
    return 0
