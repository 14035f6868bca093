"""The outermost layer of every command: whatever goes wrong is one sentence on standard error and an exit code."""

import io
import os
import platform
import sys
import traceback
from collections.abc import Sequence
from importlib import metadata
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from harness import names
from harness.errors import FairclockError

INTERRUPTED = 130
"""The shell's code for a command ended by Ctrl-C: 128 and the number of SIGINT."""


HELP: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
"""How every command offers its help, and how wide that may be."""


def version_line() -> str:
    """Return the versions of the kit, Python and torch in a line. Nothing is imported to find them."""
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
    typer.Option("--version", callback=_print_version, is_eager=True, help="Versions of the kit, Python and torch."),
]


class Verbs(TyperGroup):
    """Commands of which a slip of the pen is told the close ones, but never one that `--help` does not list."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is meant. Raises `UsageError` with what there is."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            listed = {name: (name,) for name, command in self.commands.items() if not command.hidden}
            names.one_of(args[0], listed, [], "command")
        return super().resolve_command(ctx, args)


def guarded(app: typer.Typer, name: str, arguments: Sequence[str]) -> int:
    """Run a typer app so that whatever goes wrong is one sentence on standard error; return the exit code.

    With `--debug` among the arguments, a fault of ours keeps its traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without our characters still shows the words
    try:
        code = app(args=list(arguments), prog_name=name, standalone_mode=False, **HELP)
        sys.stdout.flush()
    except typer.TyperException as error:
        return complain(f"{error.format_message().rstrip('.')}. See {name} --help.", 2)
    except FairclockError as error:
        return complain(str(error), error.exit_code)
    except BrokenPipeError:  # who read is gone, as in `| head`; the interpreter must not find out again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort of a command: a fault of ours, told as one
        if "--debug" in arguments:
            traceback.print_exc()
        return complain(f"{name} has a fault of its own: {error}. Run it with --debug and report what it prints.", 1)
    return code if isinstance(code, int) else 0


def complain(sentence: str, code: int) -> int:
    """Print a sentence on one line. It may quote a file's name, and a terminal would obey control characters in it."""
    line = " ".join(sentence.split())
    print("".join(char if char.isprintable() else ascii(char)[1:-1] for char in line), file=sys.stderr)
    return code
