"""The outermost layer of every command: whatever goes wrong is one sentence on standard error and an exit code."""

import io
import os
import sys
import traceback
from collections.abc import Sequence

import typer

from harness.errors import FairclockError

INTERRUPTED = 130
"""The shell's code for a command ended by Ctrl-C: 128 and the number of SIGINT."""


def guarded(app: typer.Typer, name: str, arguments: Sequence[str]) -> int:
    """Run a typer app so that whatever goes wrong is one sentence on standard error; return the exit code.

    With `--debug` among the arguments, a fault of ours keeps its traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without our characters still shows the words
    try:
        code = app(args=list(arguments), prog_name=name, standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        return _complain(f"{error.format_message().rstrip('.')}. See {name} --help.", 2)
    except FairclockError as error:
        return _complain(str(error), error.exit_code)
    except BrokenPipeError:  # who read is gone, as in `| head`; the interpreter must not find out again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort of a command: a fault of ours, told as one
        if "--debug" in arguments:
            traceback.print_exc()
        return _complain(f"{name} has a fault of its own: {error}. Run it with --debug and report what it prints.", 1)
    return code if isinstance(code, int) else 0


def _complain(sentence: str, code: int) -> int:
    """Print a sentence on one line. It may quote a file's name, and a terminal would obey control characters in it."""
    line = " ".join(sentence.split())
    print("".join(char if char.isprintable() else ascii(char)[1:-1] for char in line), file=sys.stderr)
    return code
