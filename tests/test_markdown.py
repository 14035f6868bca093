"""The links, paths and commands in the Markdown pages lead to existing targets."""

import importlib.util
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
import typer
from markdown_pages import Command, anchors, commands, inline_code, links, name_of, pages
from project_files import ROOT

from grader import catalogue
from grader.commands.apps import fairclock_app, grader_app
from harness.command_line import names
from harness.suite import command as suite
from lessons.__main__ import app as lessons_app
from lessons.engine import command as engine_command
from lessons.engine.catalogue import entries

PAGES = pytest.mark.parametrize("page", pages(), ids=name_of)
STUDENTS = ROOT / "grader" / "student_kit" / "README.md"
MOST_LINES = 150
EXAMPLES = ("20_row_norms", "20_builtin_sum")
"""The exercise and the lesson that the pages write as examples."""

A_PATH = re.compile(r"(\.ci|\.github|grader|harness|lessons|solutions|tests)/[\w./-]*")
A_PLACEHOLDER = re.compile(r"NN_name")
OF_THE_SHELL = ("--install-completion", "--show-completion")
OF_EVERY_COMMAND = {"--help", "-h"}
LESSONS = [entry.name for entry in entries()]


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_the_readme_links_to_every_other_page() -> None:
    linked = {(ROOT / link.partition("#")[0]).resolve() for link in links((ROOT / "README.md").read_text("utf-8"))}
    assert {*pages()} - {ROOT / "README.md"} <= linked


@PAGES
def test_every_relative_link_points_at_a_file_and_a_heading_that_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    broken = []
    for link in links(text):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if "://" in link:
            continue
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            broken.append(link)
    assert broken == []


@PAGES
def test_every_path_exists(page: Path) -> None:
    named = [code for code in inline_code(page.read_text(encoding="utf-8")) if A_PATH.fullmatch(code)]
    real = [code for code in named if not A_PLACEHOLDER.search(code) and not any(each in code for each in EXAMPLES)]
    assert [code for code in real if not (ROOT / code).exists()] == []


@PAGES
def test_every_command_exists(page: Path) -> None:
    wrong = {str(command): fault for command in commands(page.read_text("utf-8")) if (fault := fault_of(command))}
    assert wrong == {}


def test_commands_are_found_in_code_of_every_kind() -> None:
    indented, fenced = "    a && .venv/bin/python -m lessons --fast  # why", "```sh\npython tests/x.py\n```"
    text = f"Run `python -m grader lint 04`.\n\n{indented}\n\n{fenced}\n"
    assert list(map(str, commands(text))) == ["grader lint 04", "lessons --fast", "tests/x.py"]


@pytest.mark.parametrize(
    "command",
    [
        "grader gone",
        "grader check --gone",
        "grader check 99",
        "lessons.99_gone",
        "lessons 99",
        "lessons --gone",
        "tests/gone.py",
    ],
)
def test_a_command_that_does_not_exist_is_found(command: str) -> None:
    program, *words = command.split()
    assert fault_of(Command(program, tuple(words)))


def test_anchors_are_made_as_github_makes_them() -> None:
    assert anchors("# A `b`, c?\n\n## A-b\n\n## A-b\n") == {"a-b-c", "a-b", "a-b-1"}


def test_the_page_of_the_grader_names_all_of_its_folders() -> None:
    page = (ROOT / "grader" / "README.md").read_text(encoding="utf-8")
    folders = {path.name for path in (ROOT / "grader").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert set(re.findall(r"^\| `(\w+)/` \|", page, re.MULTILINE)) == folders


def fault_of(command: Command) -> str:
    """Return why a command of a page does not exist, or an empty string if it exists."""
    if command.program == "grader":
        return fault_of_verb(command, verbs(grader_app()))
    if command.program == "fairclock":
        if command.verb in {"lessons", "lesson"}:
            return fault_of(Command("lessons", command.words[1:]))
        return fault_of_verb(command, verbs(fairclock_app()))
    if command.program == "harness.suite":
        which = suite._comparing if command.verb == "compare" else suite._running
        return missing(command, options(typer.main.get_command(which)))
    if command.program == "lessons":
        return fault_of_lessons(command)
    if command.program.startswith("lessons."):
        lesson = command.program.partition(".")[2]
        return missing(command, options_of_lessons()) if lesson in LESSONS else "no such lesson"
    if command.program.endswith(".py"):
        return fault_of_script(command)
    return "" if is_module(command.program) else "no such module"


def fault_of_lessons(command: Command) -> str:
    if not command.verb:
        return missing(command, options(typer.main.get_command(lessons_app)))
    if command.verb in verbs(lessons_app):
        return fault_of_verb(command, verbs(lessons_app))
    known = names.matches(command.verb, {name: names.lesson_aliases(name) for name in LESSONS})
    return missing(command, options_of_lessons()) if known else "no such lesson"


@cache
def options_of_lessons() -> set[str]:
    app = engine_command._app(import_module("lessons.04_autorange").lesson)
    return options(typer.main.get_command(app))


def fault_of_verb(command: Command, known: Mapping[str, object]) -> str:
    if not command.verb:
        return missing(command, {"--version", *(OF_THE_SHELL if command.program == "fairclock" else ())})
    if command.verb == "VERB":
        return ""
    if command.verb not in known:
        return "no such verb"
    lessons = [word for word in command.words[1:] if re.match(r"\d", word) and not word.startswith(EXAMPLES)]
    if command.program in {"grader", "fairclock"} and command.verb in {"check", "lint", "calibrate", "notebook"}:
        for lesson in lessons:
            if not names.matches(lesson, {name: names.lesson_aliases(name) for name in catalogue.load().lessons}):
                return f"no exercise {lesson}"
    return missing(command, options(known[command.verb]))


def fault_of_script(command: Command) -> str:
    script = ROOT / command.program
    if not script.is_file():
        return "no such file"
    source = script.read_text(encoding="utf-8")
    unknown = [option for option in command.options if option.startswith("--") and f'"{option}"' not in source]
    return f"no option {unknown}" if unknown else ""


def missing(command: Command, known: set[str]) -> str:
    unknown = command.options - known - OF_EVERY_COMMAND
    return f"no option {', '.join(sorted(unknown))}" if unknown else ""


def is_module(name: str) -> bool:
    return name == "venv" or importlib.util.find_spec(name) is not None


def verbs(app: typer.Typer) -> dict[str, object]:
    """Return the commands of a Typer app, by name."""
    return dict(getattr(typer.main.get_command(app), "commands", {}))


def options(command: object) -> set[str]:
    parameters = getattr(command, "params", ())
    return {name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)}
