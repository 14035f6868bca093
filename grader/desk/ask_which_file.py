"""Ask the student which of several changed files of an exercise is graded.

Without a terminal, raise an error that names the command for each file.
"""

import shlex
import sys
from collections.abc import Sequence
from datetime import datetime

from rich.console import Console
from rich.prompt import Prompt

from grader.desk.exercise_files import FileChoice
from grader.errors import UsageError


def settle(choices: Sequence[FileChoice], command: str, console: Console) -> list[FileChoice]:
    """Return the choices with one file selected for each exercise, by asking the student if needed.

    The student is asked if several files of an exercise were changed. Without a terminal, raise `UsageError`, which
    names the files and the command line that selects each of them: `command` and the file's path.
    """
    open_ = [choice for choice in choices if choice.candidates]
    if open_ and not (sys.stdin.isatty() and console.is_terminal):
        raise UsageError(" ".join(_unsettled(choice, command) for choice in open_))
    return [_asked(choice, command, console) if choice.candidates else choice for choice in choices]


def _asked(choice: FileChoice, command: str, console: Console) -> FileChoice:
    """Ask until the student types a number from the list, and return the choice with that file selected.

    Raise `UsageError` at Ctrl-D.
    """
    lines = [f"{choice.lesson}: you have changed {len(choice.candidates)} files, and only one of them can count."]
    for number, file in enumerate(choice.candidates, start=1):
        saved = datetime.fromtimestamp(file.path.stat().st_mtime).astimezone()
        lines.append(f"  {number}  {file.path}  (saved {saved:%d %b %H:%M})")
    console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)
    numbers = [str(number) for number in range(1, len(choice.candidates) + 1)]
    try:
        typed = Prompt.ask("Which one counts?", console=console, choices=numbers)
    except EOFError:
        raise UsageError(_unsettled(choice, command)) from None
    return choice.take(choice.candidates[int(typed) - 1])


def _unsettled(choice: FileChoice, command: str) -> str:
    paths = " and ".join(str(file.path) for file in choice.candidates)
    commands = " or ".join(f"{command} {shlex.quote(str(file.path))}" for file in choice.candidates)
    return f"You have changed {paths}, but only one file of {choice.lesson} can count. Choose one: {commands}"
