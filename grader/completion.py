"""Shell completion of `python -m grader …` and `python -m lessons.NN_name …`, for bash, zsh and fish.

The words are written into the script when it is made: asking the grader at each press of Tab would load all of it each
time, which takes most of a second. Make the script again after an update.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Annotated, Final

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import typer

from grader import catalogue
from grader.errors import UsageError
from grader.files import explained, write_atomically
from harness.command import Version

SHELLS: Final = ("bash", "zsh", "fish")
OF_LESSONS: Final = frozenset({"lesson", "lessons", "target"})
"""What a verb calls an argument or option that is a lesson's name."""

LESSON_OPTIONS: Final = (
    "--no-input",
    "--fast",
    "--json",
    "--notebook",
    "--plots",
    "--force",
    "--list-steps",
    "--version",
    "--help",
)
"""What every lesson takes; a test compares it with theirs."""

PLACES: Final[Mapping[str, tuple[str, str | None]]] = {
    "bash": (".bash_completions/fairclock.sh", ".bashrc"),
    "zsh": (".zfunc/fairclock.zsh", ".zshrc"),
    "fish": (".config/fish/conf.d/fairclock.fish", None),
}
"""Below the home folder: where the script goes, and the file that is to read it where the shell does not by itself."""


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb: its options, those followed by a value, and whether a lesson's name may stand after it."""

    name: str
    options: tuple[str, ...]
    with_value: tuple[str, ...]
    lessons: bool


def verbs(app: typer.Typer) -> tuple[Verb, ...]:
    """Return what there is to complete in a typer app."""
    group = typer.main.get_command(app)
    return tuple(_verb(name, command.params) for name, command in sorted(_shown(group)))


def _shown(group: object) -> list[tuple[str, typer.core.TyperCommand]]:
    """The commands that `--help` lists."""
    return [(name, command) for name, command in getattr(group, "commands", {}).items() if not command.hidden]


def modules(lessons: Sequence[str]) -> str:
    """Return what may stand after `python -m`: every lesson, also one without an exercise."""
    talks = {path.stem for path in (catalogue.KIT / "lessons").glob("[0-9][0-9]_*.py")}
    return " ".join(["grader", "lessons", *(f"lessons.{name}" for name in sorted({*talks, *lessons}))])


def script(shell: str, found: Sequence[Verb], lessons: Sequence[str]) -> str:
    """Return the script for a shell. Raises `UsageError` for one that is not known here."""
    if shell not in SHELLS:
        raise UsageError(f"There is no completion for {shell or 'this shell'}; there is for {', '.join(SHELLS)}.")
    if shell == "fish":
        return "\n".join(_fish(found, lessons)) + "\n"
    words = {
        "modules": modules(lessons),
        "verbs": " ".join([*(verb.name for verb in found), "--help"]),
        "lessons": " ".join(lessons),
        "lesson_options": " ".join(LESSON_OPTIONS),
        "options": "\n".join(f"        {verb.name}) echo '{' '.join(verb.options)}' ;;" for verb in found),
        "taking": "|".join(sorted({option for verb in found for option in verb.with_value} - {"--lessons"})),
        "of_lessons": "|".join(verb.name for verb in found if verb.lessons),
    }
    return ("" if shell == "bash" else ZSH) + Template(BASH).substitute(words)


def offer(app: typer.Typer, lessons: Sequence[str]) -> None:
    """Give an app the options that show and install its completion."""

    @app.callback(invoke_without_command=True)
    def completions(
        context: typer.Context,
        version: Version = False,
        install_it: Annotated[bool, typer.Option("--install-completion", help="Complete on Tab here.")] = False,
        show_it: Annotated[bool, typer.Option("--show-completion", help="Show what that installs.")] = False,
    ) -> None:
        del version  # it has ended the command by itself
        if install_it or show_it:
            shell = shell_here()
            text = script(shell, verbs(app), lessons)
            said = f"Wrote {install(shell, text, Path.home())}; open a new {shell}." if install_it else text
            print(said.rstrip("\n"))
            raise typer.Exit
        if context.invoked_subcommand is None:
            print(context.get_help(), file=sys.stderr)
            raise typer.Exit(2)


def shell_here() -> str:
    """The shell that this was started from: the nearest one among the processes above, else that of `SHELL`."""
    for process in psutil.Process().parents():
        if (name := process.name().lstrip("-")) in SHELLS:
            return str(name)
    return Path(os.environ.get("SHELL", "")).name


def install(shell: str, text: str, home: Path) -> Path:
    """Write the script below `home` and have the shell read it; return where it lies."""
    name, reader = PLACES[shell]
    path = home / name
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.encode())
    if reader:
        line = f"source '{path}'"
        with explained(home / reader):
            before = (home / reader).read_text(encoding="utf-8") if (home / reader).is_file() else ""
            if line not in before.splitlines():
                kept = before if before.endswith("\n") or not before else before + "\n"
                (home / reader).write_text(f"{kept}{line}\n", encoding="utf-8")
    return path


def _verb(name: str, params: Sequence[object]) -> Verb:
    options: list[str] = ["--help"]
    with_value: list[str] = []
    lessons = False
    for param in params:
        if getattr(param, "param_type_name", "") == "argument":
            lessons |= getattr(param, "name", "") in OF_LESSONS
            continue
        every = (*getattr(param, "opts", ()), *getattr(param, "secondary_opts", ()))
        own = [one for one in every if one.startswith("--")]
        options += own
        with_value += [] if getattr(param, "is_flag", False) else own
    return Verb(name, tuple(sorted(set(options))), tuple(with_value), lessons)


def _fish(found: Sequence[Verb], lessons: Sequence[str]) -> Iterator[str]:
    yield "# Completion of `python -m grader` and of lessons, made by `python -m grader --show-completion`."
    yield "function __fairclock_after"
    yield "    set -l words (commandline -opc)"
    yield '    string match -q -- "*-m $argv[1]*" "$words"'
    yield "end"
    yield "function __fairclock_new"
    yield "    set -l words (commandline -opc)"
    yield '    test "$words[-1]" = grader'
    yield "end"
    for python in ("python", "python3"):
        begin = f"complete -c {python} -n"
        yield f"{begin} 'test (commandline -opc)[-1] = -m' -f -a '{modules(lessons)}'"
        yield f"{begin} '__fairclock_new' -f -a '{' '.join(verb.name for verb in found)}'"
        for verb in found:
            after = f"{begin} '__fairclock_after \"grader {verb.name}\"'"
            for option in verb.options:
                takes = " -r" if option in verb.with_value else ""
                of_lessons = f" -f -a '{' '.join(lessons)}'" if option == "--lessons" else ""
                yield f"{after} -l {option[2:]}{takes}{of_lessons}"
            if verb.lessons:
                yield f"{after} -a '{' '.join(lessons)}'"
        for option in LESSON_OPTIONS:
            yield f"{begin} '__fairclock_after lessons.' -l {option[2:]}"


ZSH: Final = "autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n"
"""zsh runs bash's functions by one of its own; that counts words from 0 too."""

BASH: Final = r"""# Completion of `python -m grader` and of lessons, made by `python -m grader --show-completion`.
_fairclock_options() {
    case $$1 in
$options
    esac
}
_fairclock() {
    local current=$${COMP_WORDS[COMP_CWORD]} before=$${COMP_WORDS[COMP_CWORD-1]} at=0 verb='' words='' i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [ "$${COMP_WORDS[i]}" = -m ]; then at=$$((i + 1)); break; fi
    done
    [ "$$at" -gt 0 ] || return 0
    if [ "$$COMP_CWORD" -eq "$$at" ]; then
        words='$modules'
    else
        case $${COMP_WORDS[at]} in
            lessons.*) words='$lesson_options' ;;
            grader)
                for ((i = at + 1; i < COMP_CWORD; i++)); do
                    case $${COMP_WORDS[i]} in -*) ;; *) verb=$${COMP_WORDS[i]}; break ;; esac
                done
                case $$before in
                    --lessons) words='$lessons' ;;
                    $taking) return 0 ;;
                    *)
                        if [ -z "$$verb" ]; then
                            words='$verbs'
                        else
                            case $$current in -*) words=$$(_fairclock_options "$$verb") ;; *)
                                case $$verb in $of_lessons) words='$lessons' ;; esac ;;
                            esac
                        fi ;;
                esac ;;
        esac
    fi
    COMPREPLY=($$(compgen -W "$$words" -- "$$current"))
}
complete -o bashdefault -o default -F _fairclock python python3
"""
