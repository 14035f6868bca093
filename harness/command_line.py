"""The code that all commands share: errors as one sentence, and the lesson or the command that a user means."""

import difflib
import platform
import re
import shlex
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup
from typer.main import get_command

from harness import standard_streams
from harness.errors import FairclockError, UsageError
from harness.machine.environment import version_of
from harness.rendering.texts import shown

INTERRUPTED = 130
"""The exit code after Ctrl-C, as in a shell: 128 plus the number of the signal SIGINT."""

_SETTINGS: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}  # of every command


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"fairclock {version_of('fairclock')}, Python {platform.python_version()}, torch {version_of('torch')}")
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
        if args and args[0] not in self.commands:
            listed = {name: (name,) for name, command in self.commands.items() if not command.hidden}
            one_of(args[0], listed, [], "command")
        return super().resolve_command(ctx, args)


def guarded(
    app: typer.Typer, name: str, arguments: Sequence[str], whole: Callable[[], typer.Typer] | None = None
) -> int:
    """Run a typer app, print every error as one sentence on standard error, and return the exit code.

    If `arguments` contains `--debug`, the traceback of an internal error is printed too. The command as it was typed is
    the `obj` of the app's context. `whole` returns the app with all commands, if `app` has only some of them.
    """
    standard_streams.open_closed()
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as `installation.require` leaves it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    typed = f"{name} {shlex.join(arguments)}"
    try:
        code = app(args=list(arguments), prog_name=name, standalone_mode=False, obj=typed, **_SETTINGS)
        sys.stdout.flush()
    except typer.TyperException as error:
        return complain(_usage_error(error, name, arguments, get_command(whole() if whole else app)), 2)
    except FairclockError as error:
        return complain(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - every other exception is an internal error
        if fault := standard_streams.why_lost(error) or _fault_of_machine(error):
            return complain(fault, 2)
        if "--debug" in arguments:
            traceback.print_exc()
        at = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{error} ({Path(at.filename).name}, line {at.lineno})"
        return complain(f"Internal error in {name}: {what}. Run it with --debug and report the output.", 1)
    return code if isinstance(code, int) else 0


def _usage_error(error: typer.TyperException, name: str, words: Sequence[str], whole: Any) -> str:
    """Return a sentence on a wrong command line. For an unknown option, it has similar options or the right command."""
    commands: Mapping[str, Any] = getattr(whole, "commands", {})
    verb = next((word for word in words if word in commands), "")
    if type(error).__name__ != "NoSuchOption":
        return f"{error.format_message().rstrip('.')}. See {' '.join(filter(None, (name, verb)))} --help."
    given = str(getattr(error, "option_name", ""))
    if not given.startswith("--"):  # typer reads `-hint` as options of one letter
        given = next((word for word in words if re.match(r"-\w", word) and given[-1] in word), given)
    own, said = _options(commands.get(verb, whole)), f"There is no option {given}."
    if verb and words[0] != verb:
        return f"{said} Write options after the command: {name} {with_first(verb, words)}"
    if having := [each for each, one in commands.items() if not one.hidden and given in _options(one)]:
        return f"{said} It is an option of {name} {' and '.join(having)}."
    close = similar(given.lstrip("-"), [option.removeprefix("--") for option in own])
    return f"{said} Did you mean --{' or --'.join(close)}?" if close else f"{said} There are: {', '.join(own)}."


def _options(command: Any) -> list[str]:
    listed = [each for each in command.params if not getattr(each, "hidden", False)]
    return ["--help", *(opt for each in listed for opt in (*each.opts, *each.secondary_opts) if opt.startswith("--"))]


def with_first(word: str, arguments: Sequence[str]) -> str:
    """Return the arguments as text, with `word` before all others."""
    return shlex.join([*filter(None, [word]), *(each for each in arguments if each != word)])


def _fault_of_machine(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in standard_streams.FULL:
        return f"{error.filename} could not be written ({error.strerror}). Make room, and run it again."
    try:
        Path.cwd()
    except OSError:
        return "The current folder is gone. Change to another folder, and run the same command again."
    return ""


def complain(sentence: str, code: int) -> int:
    """Print a sentence to standard error, unless it is blank, and return `code`. Only a terminal gets several lines."""
    if line := " ".join(sentence.split()):
        from rich.console import Console  # noqa: PLC0415 - imported only if needed

        from harness.rendering.wrapping import columns, wrapped  # noqa: PLC0415

        try:
            print(*wrapped(shown(line), columns(Console(stderr=True))), sep="\n", file=sys.stderr, flush=True)
        except OSError:
            standard_streams.lose(sys.stderr)
    return code


def named(given: str, there_are: Iterable[str], what: str = "lesson") -> str:
    """Return the lesson that `given` names, such as "2", "02", "02_timeit", "timeit_vs_timer" or the whole name.

    If no lesson or several lessons match, raise `UsageError` with similar names. `what` is the noun in this message.
    """
    aliases = {name: lesson_aliases(name) for name in there_are}
    return one_of(given, aliases, matches(given, aliases), what)


def lesson_aliases(name: str) -> tuple[str, ...]:
    """Return all names of a lesson, such as "02_timeit_vs_timer", "02", "2" and "timeit_vs_timer"."""
    number, _, words = name.partition("_")
    return (name, number, number.lstrip("0"), words) if number.isdecimal() and words else (name,)


def matches(given: str, aliases: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names that have the alias `given`, or else the names with an alias that begins with `given`."""
    given = given.strip().removesuffix(".py").casefold()
    if not given:
        return []
    given = given.lstrip("0") or "0" if given.isdecimal() else given
    exact = [name for name, others in aliases.items() if given in map(str.casefold, others)]
    if exact or given.isdecimal():
        return exact
    return [name for name, others in aliases.items() if any(each.casefold().startswith(given) for each in others)]


def one_of(
    given: str, aliases: Mapping[str, Sequence[str]], found: Sequence[str], what: str, listed: Iterable[str] = ()
) -> str:
    """Return the only name in `found`. Raise `UsageError` if `found` is empty or has several names.

    The error message calls a name a `what`, such as "lesson". It lists similar names, or without any the names in
    `listed` (by default, all names in `aliases`).
    """
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{given!r} can mean {' or '.join(found)}; write one of them in full.")
    words = {alias.partition("_")[0]: name for name, others in aliases.items() for alias in others}
    words |= {alias: name for name, others in aliases.items() for alias in others}
    close = dict.fromkeys(words[each] for each in similar(given, words))
    more = f"Did you mean {' or '.join(close)}?" if close else f"There are: {', '.join(listed or aliases)}."
    raise UsageError(f"There is no {what} {given!r}. {more}")


def similar(given: str, words: Iterable[str]) -> list[str]:
    """Return up to three words that begin with the letters of `given`, or else that are spelled like it."""
    given, words = given.casefold(), list(words)
    longer = [word for word in words if given and word.startswith(given)]
    return [] if given.strip("-").isdecimal() else longer[:3] or difflib.get_close_matches(given, words)
