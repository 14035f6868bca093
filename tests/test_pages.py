"""The Markdown pages: their links, paths, commands and lessons exist, and all texts use plain words."""

import importlib
import pkgutil
import re
from argparse import ArgumentParser
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import typer
from markdown_pages import Command, anchors, commands, inline_code, links

from grader.commands import serve
from grader.commands.apps import fairclock_app, grader_app
from harness.command_line import lesson_aliases, matches
from harness.gate import bisect_command
from harness.suite import __main__ as suite
from lessons.__main__ import app as lessons_app
from lessons.engine import command as engine_command
from lessons.engine.catalogue import lesson_names, listed

ROOT = Path(__file__).parent.parent
FOLDERS = (".github", "grader", "harness", "lessons", "solutions", "tests")
PAGES = {
    page: page.read_text(encoding="utf-8")
    for page in (ROOT / "README.md", *(page for folder in FOLDERS for page in sorted((ROOT / folder).rglob("*.md"))))
    if not (page.parent / f"{page.name.partition('.')[0]}.py").exists()  # the document of a lesson
}
README = PAGES[ROOT / "README.md"]
LESSONS = {name: lesson_aliases(name) for name in lesson_names()}
EXAMPLES = ("90_row_norms", "91_builtin_sum", "NN_name")
"""The exercise and the lessons that the pages write as examples."""

A_PATH = re.compile(r"(\.ci|\.github|grader|harness|lessons|solutions|tests)/[\w./-]*")
OF_EVERY_COMMAND = {"--help", "-h", "--version", "--install-completion"}


def test_the_readme_is_short_and_links_to_every_other_page() -> None:
    linked = {(ROOT / link.partition("#")[0]).resolve() for link in links(README)}
    assert len(README.splitlines()) <= 150
    assert [str(page) for page in PAGES if page.name != "README.md" or page.parent != ROOT if page not in linked] == []


def test_every_relative_link_and_every_path_leads_to_a_file_and_a_heading_that_exist() -> None:
    broken = []
    for page, text in PAGES.items():
        for link in (link for link in links(text) if "://" not in link):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
                broken.append(f"{page}: {link}")
        named = (code for code in inline_code(text) if A_PATH.fullmatch(code) and not any(e in code for e in EXAMPLES))
        broken += [f"{page}: {code}" for code in named if not (ROOT / code).exists()]
    assert broken == []


def test_every_name_of_the_harness_in_a_page_or_in_a_text_of_the_code_exists() -> None:
    sources = [file for folder in FOLDERS[1:5] for file in (ROOT / folder).rglob("*.py")]
    texts = [*PAGES.values(), *(file.read_text(encoding="utf-8") for file in sources)]
    missing = []
    for name in sorted({name for text in texts for name in re.findall(r"(?<![\w./])harness(?:\.[A-Za-z_]\w*)+", text)}):
        try:
            pkgutil.resolve_name(name)
        except (AttributeError, ImportError):
            missing.append(name)
    assert missing == []


def test_every_command_exists_with_its_options() -> None:
    found = {str(command): fault_of(command) for text in PAGES.values() for command in commands(text)}
    assert len(found) > 80
    assert {command: fault for command, fault in found.items() if fault} == {}


def test_the_pages_name_all_lessons_and_folders_and_no_others() -> None:
    titles = dict(re.findall(r"^\| (\d\d_\w+) \| (.+?) \|", README, re.MULTILINE))
    assert list(titles) == list(LESSONS)
    assert [name for name, words in titles.items() if not words.startswith(listed()[name].title)] == []
    pages = {page: text for page, text in PAGES.items() if page.parent.name != "exploits"}  # whose names look the same
    named = {(page.name, name) for page, text in pages.items() for name in re.findall(r"\b\d\d_[a-z]\w+\b", text)}
    assert {(page, name) for page, name in named if name not in {*LESSONS, *EXAMPLES}} == set()
    folders = {path.name for path in (ROOT / "grader").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert set(re.findall(r"^\| `(\w+)/` \|", PAGES[ROOT / "grader/README.md"], re.MULTILINE)) == folders


def test_the_lines_that_scripts_take_from_the_readme_are_there() -> None:
    workflows = (ROOT / ".github" / "workflows").glob("*.yml")
    scripts = [path.read_text(encoding="utf-8") for path in (ROOT / ".ci" / "run", *workflows)]
    patterns = {found for text in scripts for found in re.findall(r"grep (?:-m 1 )?'([^']+)' README\.md", text)}
    assert patterns
    assert [pattern for pattern in patterns if not re.search(pattern, README)] == []


def fault_of(command: Command) -> str:
    """Return why a command of a page does not exist, or an empty string if it exists."""
    program, verb = command.program, command.verb
    if program.endswith(".py"):
        return "" if (ROOT / program).is_file() else "no such file"
    if program == "fairclock" and verb in {"lessons", "lesson"}:
        return fault_of(Command("lessons", command.words[1:]))
    if (program, verb) == ("fairclock", "bisect") or program == "fairclock-bisect":
        return unknown_options(command, bisect_command.parser(program))
    if program.startswith("lessons.") or (program == "lessons" and re.match(r"\d", verb)):
        lesson = verb or program.partition(".")[2]
        return unknown_options(command, lesson_command()) if matches(lesson, LESSONS) else "no such lesson"
    if program == "harness.suite":
        return unknown_options(command, *map(typer.main.get_command, (suite._comparing, suite._running)))
    apps = {"grader": grader_app, "fairclock": fairclock_app, "lessons": lambda: lessons_app}
    if program not in apps:
        return "" if program in {"venv", "pip"} or importlib.util.find_spec(program) else "no such module"
    group = typer.main.get_command(apps[program]())
    known = dict(getattr(group, "commands", {}))
    if verb not in {*known, "", "VERB"}:
        return "no such verb"
    found = known.get(verb, group)
    if within := dict(getattr(found, "commands", {})) if verb in known else {}:  # of `serve`
        found = within.get("".join(command.words[1:2]), within[serve.DEFAULT])
    return unknown_options(command, found)


@cache
def lesson_command() -> object:
    return typer.main.get_command(engine_command._app(importlib.import_module("lessons.04_autorange").lesson))


def unknown_options(command: Command, *known: object) -> str:
    allowed = OF_EVERY_COMMAND.union(*map(options, known))
    return ", ".join(f"no option {option}" for option in command.options - allowed)


def options(command: object) -> Iterator[str]:
    if isinstance(command, ArgumentParser):
        yield from re.findall(r"--\w+", command.format_help())
    for parameter in getattr(command, "params", ()):
        yield from (*parameter.opts, *parameter.secondary_opts)
