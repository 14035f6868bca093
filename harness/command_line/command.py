"""Run a command, print every error as one sentence on standard error, and return an exit code."""

import io
import os
import platform
import sys
import traceback
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from harness.command_line import names
from harness.errors import FairclockError

INTERRUPTED = 130
"""The exit code after Ctrl-C, as in a shell: 128 plus the number of the signal SIGINT."""


HELP: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
"""Settings of every command: the names of its help option, and the width of the help text."""


def version_line() -> str:
    """Return the versions of fairclock, Python and torch in one line, without importing torch."""
    return f"fairclock {_installed('fairclock')}, Python {platform.python_version()}, torch {_installed('torch')}"


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _print_version(wanted: bool) -> None:
    if wanted:
        print(version_line())
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version", callback=_print_version, is_eager=True, help="Print the versions of fairclock, Python and torch."
    ),
]


class Verbs(TyperGroup):
    """A group of commands. For an unknown command, it suggests similar names. It never suggests a hidden command."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name. If there is none, raise `UsageError` with similar names."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            listed = {name: (name,) for name, command in self.commands.items() if not command.hidden}
            names.one_of(args[0], listed, [], "command")
        return super().resolve_command(ctx, args)


def guarded(app: typer.Typer, name: str, arguments: Sequence[str]) -> int:
    """Run a typer app, print every error as one sentence on standard error, and return the exit code.

    If `arguments` contains `--debug`, the traceback of an internal error is printed too.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a character that the terminal cannot print becomes "?"
    try:
        code = app(args=list(arguments), prog_name=name, standalone_mode=False, **HELP)
        sys.stdout.flush()
    except typer.TyperException as error:
        return complain(f"{error.format_message().rstrip('.')}. See {name} --help.", 2)
    except FairclockError as error:
        return complain(str(error), error.exit_code)
    except BrokenPipeError:  # the program that reads the output has ended, as in `| head`
        # Without dup2, Python would print an error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - every other exception is an internal error
        if "--debug" in arguments:
            traceback.print_exc()
        at = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{error} ({Path(at.filename).name}, line {at.lineno})"
        return complain(f"Internal error in {name}: {what}. Run it with --debug and report the output.", 1)
    return code if isinstance(code, int) else 0


def complain(sentence: str, code: int) -> int:
    """Print a sentence as one line to standard error, and return the exit code `code`.

    Control characters are escaped. A file name in the sentence may contain them, and a terminal would execute them.
    """
    line = " ".join(sentence.split())
    print("".join(char if char.isprintable() else ascii(char)[1:-1] for char in line), file=sys.stderr)
    return code
