"""Which folders may import which, how long files and functions may be, and what is in the root folder."""

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from grader.isolation.bubblewrap import KIT_FILES

pytestmark = pytest.mark.program("git")

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {
    "harness": {"harness"},
    "lessons": {"harness", "lessons"},
    "solutions": {"harness"},
    "grader": {"harness", "grader"},
}
"""The tests may import all folders."""

OTHERS = {"tests", ".ci", ".github", ".gitignore", "LICENSE", "README.md", "pyproject.toml"}
MOST_LINES = 320
MOST_LINES_OF_A_FUNCTION = 60
A_LESSON = re.compile(r"lessons/\d\d_\w+\.py")
"""The files of lessons, which may be longer than other files. The limit for functions keeps their steps short."""

OTHER_CODE = re.compile(r"tests/|lessons/exercises/|.*/known/")
"""Tests, students' files and stubs, for which these rules do not hold."""


@cache
def tracked() -> tuple[str, ...]:
    """Return the files in git, and new files at the top or in the project's folders."""
    new = ("--others", "--exclude-standard", "--", *MAY_IMPORT, "tests", ".ci", ".github", ":(glob)*")
    names: list[str] = []
    for options in ((), new):
        listing = subprocess.run(["git", "ls-files", *options], cwd=ROOT, capture_output=True, text=True, check=False)
        if listing.returncode:
            pytest.skip("not a git checkout: which files belong to the project is not known")
        names += listing.stdout.splitlines()
    return tuple(name for name in sorted(names) if (ROOT / name).is_file())


@cache
def sources() -> dict[str, ast.Module]:
    """Return the name and the syntax tree of each Python file of the product."""
    names = [name for name in tracked() if name.endswith(".py") and not OTHER_CODE.match(name)]
    return {name: ast.parse((ROOT / name).read_text(encoding="utf-8")) for name in names}


def module_of(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imported(name: str, tree: ast.Module) -> Iterator[str]:
    """Yield the modules and names that a file imports. Relative imports are made absolute."""
    package = name.split("/")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            yield from (".".join([*base, *filter(None, [node.module]), alias.name]) for alias in node.names)


def test_each_folder_imports_only_what_it_may() -> None:
    assert {name.split("/")[0] for name in sources()} == set(MAY_IMPORT)
    wrong = [
        f"{name} imports {module}"
        for name, tree in sources().items()
        for module in imported(name, tree)
        if (package := module.split(".")[0]) in MAY_IMPORT and package not in MAY_IMPORT[name.split("/")[0]]
    ]
    assert wrong == []


def test_neither_modules_nor_rooms_import_each_other_in_a_circle() -> None:
    """A room is a folder or a module directly in `harness` or `grader`."""
    trees = {
        module_of(name): (name, tree) for name, tree in sources().items() if name.startswith(("harness", "grader"))
    }
    modules: dict[str, set[str]] = {}
    rooms: dict[str, set[str]] = {}
    for module, (name, tree) in trees.items():
        candidates = ((found, found.rpartition(".")[0]) for found in imported(name, tree))
        targets = {next((each for each in pair if each in trees), module) for pair in candidates}
        modules[module] = targets - {module}
        room, *others = (".".join(each.split(".")[:2]) for each in (module, *targets))
        rooms.setdefault(room, set()).update({*others} - {room})
    assert {"harness.machine", "harness.rendering"} <= rooms["harness.paired"]
    for graph in (modules, rooms):
        TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules of the circle


def test_the_code_inside_the_sandbox_imports_only_what_is_there() -> None:
    inside = {name: tree for name, tree in sources().items() if name.startswith("grader/inside/")}
    seen = {module for name, tree in inside.items() for module in imported(name, tree)}
    there = tuple(name.removesuffix(".py").replace("/", ".") for name in KIT_FILES)
    ours = {module for module in seen if module.split(".")[0] in MAY_IMPORT}
    assert ours
    assert {module for module in ours if module not in there and module.rpartition(".")[0] not in there} == set()


def test_no_file_and_no_function_is_too_long() -> None:
    files = [name for name in sources() if not A_LESSON.fullmatch(name)]
    lines = {name: len((ROOT / name).read_text(encoding="utf-8").splitlines()) for name in files}
    assert {name: length for name, length in lines.items() if length > MOST_LINES} == {}
    long = [
        f"{name}: {node.name}"
        for name, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > MOST_LINES_OF_A_FUNCTION
    ]
    assert long == []


def test_no_class_name_stands_twice_outside_the_lessons() -> None:
    names = [name for name in sources() if name.startswith(("harness", "grader"))]
    classes = Counter(
        node.name for name in names for node in ast.walk(sources()[name]) if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in classes.items() if count > 1] == []


def test_the_root_folder_has_only_what_a_newcomer_expects() -> None:
    assert {name.split("/")[0] for name in tracked()} == {*MAY_IMPORT, *OTHERS}
