"""Who may import whom, and how large things may get (the arrows of the design)."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from grader.isolation.bubblewrap import INSIDE

pytestmark = pytest.mark.program("git")

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {
    "harness": {"harness"},
    "lessons": {"harness", "lessons"},
    "solutions": {"harness"},
    "grader": {"harness", "grader"},
    "tests": {"harness", "lessons", "grader", "solutions"},
}
OURS = set(MAY_IMPORT)
TOP_LEVEL = {
    ".ci", ".gitattributes", ".github", ".gitignore", "LICENSE", "README.md", "pyproject.toml",
    "grader", "harness", "lessons", "solutions", "tests",
}  # fmt: skip
MOST_LINES = 320
A_LESSON = re.compile(r"lessons/\d\d_\w+\.py")
"""One lesson is one file, however much it covers: it reads like a talk, and its steps are what must stay short."""
MOST_LINES_OF_A_FUNCTION = 60
HAND_INS = ("tests/submissions/", "tests/exploits/", "lessons/exercises/")
"""What students write, or would: nothing here holds for it."""


@cache
def tracked() -> tuple[str, ...]:
    """Every file that is part of the kit: those git knows, and new ones it does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("not a git checkout: which files belong to the kit is not known")
    return tuple(name for name in listing.stdout.splitlines() if (ROOT / name).is_file())


def sources() -> Iterator[tuple[str, ast.Module]]:
    for name in tracked():
        if name.endswith(".py") and not name.startswith(HAND_INS) and "/known/" not in name:
            yield name, ast.parse((ROOT / name).read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> Iterator[str]:
    """What a file imports of others; a relative import stays within its package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_there_is_something_to_look_at() -> None:
    names = [name for name, _ in sources()]
    assert {name.split("/")[0] for name in names} == OURS
    assert len(names) > 60


def test_each_folder_imports_only_what_it_may() -> None:
    wrong = [
        f"{name} imports {module}"
        for name, tree in sources()
        for module in imported(tree)
        if (package := module.split(".")[0]) in OURS and package not in MAY_IMPORT[name.split("/")[0]]
    ]
    assert wrong == []


def test_no_lesson_is_imported_by_statement() -> None:
    wrong = [
        f"{name} imports {module}"
        for name, tree in sources()
        for module in imported(tree)
        if module.split(".")[0] == "lessons" and "exercises" in module.split(".")
    ]
    assert wrong == []


def test_what_runs_inside_the_sandbox_needs_nothing_that_is_not_there() -> None:
    seen = {module for name, tree in sources() if name.startswith("grader/inside/") for module in imported(tree)}
    there = {"grader.inside.protocol.Channel", *(f"grader.inside.{Path(name).stem}" for name in INSIDE)}
    ours = {module for module in seen if module.split(".")[0] in OURS}
    assert ours
    assert ours <= there


def test_no_file_is_more_than_one_idea_long() -> None:
    long = [
        f"{name}: {lines} lines"
        for name, _ in sources()
        if not name.startswith("tests/")
        and not A_LESSON.fullmatch(name)
        and (lines := len((ROOT / name).read_text(encoding="utf-8").splitlines())) > MOST_LINES
    ]
    assert long == []


def test_no_function_is_more_than_one_thing_long() -> None:
    long = [
        f"{name}: {node.name}, {lines} lines"
        for name, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or 0) - node.lineno + 1) > MOST_LINES_OF_A_FUNCTION
    ]
    assert long == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        name
        for name, tree in sources()
        if not name.startswith("tests/") and tree.body and ast.get_docstring(tree) is None
    ]
    assert silent == []


def test_nothing_stands_at_the_top_but_what_a_newcomer_expects() -> None:
    assert {name.split("/")[0] for name in tracked()} <= TOP_LEVEL
