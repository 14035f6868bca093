"""Which of two changed files counts: asked at a terminal, and an error with the exact commands elsewhere."""

import datetime as dt
import shlex
import sys
from collections.abc import Callable, Sequence

from rich.console import Console

from grader.desk.works import Choice, Work
from grader.errors import UsageError

Command = Callable[[Work], str]
"""Returns the command that takes a file without a question."""


def settled(choices: Sequence[Choice], command: Command, console: Console) -> list[Choice]:
    """Return the choices with a file each: where several files are changed, the student is asked which one counts.

    Raises `UsageError` that names the files and the commands when nobody can be asked.
    """
    open_ = [choice for choice in choices if choice.rivals]
    if not open_:
        return list(choices)
    if not (sys.stdin.isatty() and console.is_terminal):
        raise UsageError(" ".join(_unsettled(choice, command) for choice in open_))
    return [_asked(choice, command, console) if choice.rivals else choice for choice in choices]


def _asked(choice: Choice, command: Command, console: Console) -> Choice:
    """Ask until a number of the list is typed. Ctrl-D raises `UsageError`."""
    say = console.print
    say(f"{choice.lesson}: you have changed {len(choice.rivals)} files.", markup=False, highlight=False)
    for number, work in enumerate(choice.rivals, start=1):
        saved = dt.datetime.fromtimestamp(work.path.stat().st_mtime).astimezone()
        say(f"  {number}  {work.path}  (saved {saved:%d %b %H:%M})", markup=False, highlight=False, soft_wrap=True)
    numbers = [str(number) for number in range(1, len(choice.rivals) + 1)]
    while True:
        say(f"Which one counts? Type {' or '.join(numbers)} > ", end="", markup=False, highlight=False)
        try:
            typed = input().strip()
        except EOFError:
            raise UsageError(_unsettled(choice, command)) from None
        if typed in numbers:
            return choice.take(choice.rivals[int(typed) - 1])


def _unsettled(choice: Choice, command: Command) -> str:
    paths = " and ".join(str(work.path) for work in choice.rivals)
    commands = " or ".join(command(work) for work in choice.rivals)
    return f"You have changed {paths}, and only one file of {choice.lesson} can count. Choose one: {commands}"


def quoted(work: Work) -> str:
    """Return a file's path as a shell takes it."""
    return shlex.quote(str(work.path))
