"""The command `fairclock bisect`, which the small distribution calls `fairclock-bisect`."""

import argparse
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

from harness.errors import FairclockError, UsageError
from harness.gate.bisect import bisect
from harness.gate.settings import number


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:]}. See {self.prog} --help.")


def parser(program: str) -> argparse.ArgumentParser:
    """Return the parser of the command's arguments. It raises `UsageError` if one is wrong."""
    made = _Parser(
        program,
        usage="%(prog)s [--setup CODE] [--allow CHANGE] GOOD BAD -- STATEMENT",
        description="Find the first commit of a git repository that made a statement slower.",
        allow_abbrev=False,
    )
    made.add_argument("good", metavar="GOOD", help="a revision at which the statement is fast")
    made.add_argument("bad", metavar="BAD", help="a later revision, at which it is slow")
    made.add_argument("statement", metavar="STATEMENT", help="the Python statement to time")
    made.add_argument("--setup", metavar="CODE", default="pass", help="code that runs once before, such as imports")
    made.add_argument(
        "--allow", metavar="CHANGE", help="the largest change that is not slower, such as 3%%. Default: half of BAD's"
    )
    made.add_argument("--debug", action="store_true", help="show the traceback of an internal error")
    return made


def run(arguments: Sequence[str], program: str) -> None:
    """Print the first commit that made a statement slower. Raise `UsageError` if an argument is wrong."""
    given = parser(program).parse_args(arguments)
    allowed = None if given.allow is None else number("--allow", given.allow, most=10)
    tell = partial(print, file=sys.stderr, flush=True)
    print(bisect(Path.cwd(), given.good, given.bad, given.statement, given.setup, allowed, tell))


def main() -> int:
    """Run `fairclock-bisect` with the arguments of this process, and return the exit code."""
    try:
        run(sys.argv[1:], "fairclock-bisect")
    except FairclockError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 128 + signal.SIGINT  # as in a shell
    return 0
