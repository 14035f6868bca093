"""Ask the student which of several changed files of an exercise is graded.

Without a terminal, raise an error that names the command for each file.
"""

import datetime as dt
import shlex
import sys
from collections.abc import Callable, Sequence

from rich.console import Console

from grader.desk.exercise_files import Choice, ExerciseFile
from grader.errors import UsageError

Command = Callable[[ExerciseFile], str]
"""A function that takes a file and returns the command line with which the student selects this file."""


def settle(choices: Sequence[Choice], command: Command, console: Console) -> list[Choice]:
    """Return the choices with one file selected for each exercise, by asking the student if needed.

    The student is asked if several files of an exercise were changed. Without a terminal, raise `UsageError`, which
    names the files and the command that selects each of them.
    """
    open_ = [choice for choice in choices if choice.candidates]
    if not open_:
        return list(choices)
    if not (sys.stdin.isatty() and console.is_terminal):
        raise UsageError(" ".join(_unsettled(choice, command) for choice in open_))
    return [_asked(choice, command, console) if choice.candidates else choice for choice in choices]


def _asked(choice: Choice, command: Command, console: Console) -> Choice:
    """Ask until the student types a number from the list, and return the choice with that file selected.

    Raise `UsageError` at Ctrl-D.
    """
    say = console.print
    say(
        f"{choice.lesson}: you have changed {len(choice.candidates)} files, and only one of them can count.",
        markup=False,
        highlight=False,
    )
    for number, file in enumerate(choice.candidates, start=1):
        saved = dt.datetime.fromtimestamp(file.path.stat().st_mtime).astimezone()
        say(f"  {number}  {file.path}  (saved {saved:%d %b %H:%M})", markup=False, highlight=False, soft_wrap=True)
    numbers = [str(number) for number in range(1, len(choice.candidates) + 1)]
    while True:
        say(f"Which one counts? Type {' or '.join(numbers)} > ", end="", markup=False, highlight=False)
        try:
            typed = input().strip()
        except EOFError:
            raise UsageError(_unsettled(choice, command)) from None
        if typed in numbers:
            return choice.take(choice.candidates[int(typed) - 1])


def _unsettled(choice: Choice, command: Command) -> str:
    paths = " and ".join(str(file.path) for file in choice.candidates)
    commands = " or ".join(command(file) for file in choice.candidates)
    return f"You have changed {paths}, but only one file of {choice.lesson} can count. Choose one: {commands}"


def quoted_path(file: ExerciseFile) -> str:
    """Return the path of an exercise file, quoted for a shell."""
    return shlex.quote(str(file.path))
