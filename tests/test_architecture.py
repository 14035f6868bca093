"""Which folders may import which, and how long files and functions may be."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import project_files
import pytest

from grader.isolation.bubblewrap import WORKER_FILES

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
"""The files of lessons, which may be longer than other files. The limit for functions keeps their steps short."""
MOST_LINES_OF_A_FUNCTION = 60
HAND_INS = ("tests/submissions/", "tests/exploits/", "lessons/exercises/")
"""The folders of students' files and stubs, for which these rules do not hold."""


@cache
def tracked() -> tuple[str, ...]:
    """Return every file of the kit."""
    try:
        return project_files.tracked()
    except subprocess.CalledProcessError:
        pytest.skip("not a git checkout: which files belong to the kit is not known")


@cache
def sources() -> tuple[tuple[str, ast.Module], ...]:
    """Return the name and the syntax tree of each Python file of the kit that is not handed in."""
    names = [name for name in tracked() if name.endswith(".py") and not name.startswith(HAND_INS)]
    return tuple(
        (name, ast.parse((ROOT / name).read_text(encoding="utf-8"))) for name in names if "/known/" not in name
    )


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield the modules and names that a file imports from other packages. Relative imports are left out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def absolute_imports(module: str, is_package: bool, tree: ast.Module) -> Iterator[str]:
    """Yield the modules and names that a module imports. Relative imports are made absolute."""
    yield from imported(tree)
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = [*package[: len(package) - node.level + 1], *filter(None, [node.module])]
            yield from (".".join([*base, alias.name]) for alias in node.names)


def import_graph(*packages: str) -> dict[str, set[str]]:
    """Return each module of these packages with those modules of the packages that it imports."""
    trees = {
        name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): (name.endswith("__init__.py"), tree)
        for name, tree in sources()
        if name.split("/")[0] in packages
    }
    graph: dict[str, set[str]] = {}
    for module, (is_package, tree) in trees.items():
        targets = (
            next((name for name in (found, found.rpartition(".")[0]) if name in trees), module)
            for found in absolute_imports(module, is_package, tree)
        )
        graph[module] = set(targets) - {module}
    return graph


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return one import circle of a graph, or [] if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


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


def room(module: str) -> str:
    """Return the package within grader that has this module: `grader.reports` for `grader.reports.table`.

    Return a module of another package unchanged.
    """
    parts = module.split(".")
    path = ROOT.joinpath(*parts[:2])
    return ".".join(parts[:2]) if path.is_dir() or path.with_suffix(".py").is_file() else parts[0]


def test_no_rooms_of_grader_import_each_other_in_a_circle() -> None:
    imports: dict[str, set[str]] = {}
    for name, tree in sources():
        if name.startswith("grader/"):
            own = room(name.removesuffix(".py").replace("/", "."))
            others = {room(module) for module in imported(tree) if module.startswith("grader.")}
            imports.setdefault(own, set()).update(others - {own})
    tuple(TopologicalSorter(imports).static_order())  # raises CycleError, which names the rooms of the circle


def test_no_import_circle_between_modules() -> None:
    graph = import_graph("harness", "grader")
    assert len(graph) > 200
    assert circle(graph) == []


def test_no_import_circle_between_the_rooms_of_harness() -> None:
    rooms: dict[str, set[str]] = {}
    for module, targets in import_graph("harness").items():
        room = ".".join(module.split(".")[:2])
        rooms.setdefault(room, set()).update(".".join(target.split(".")[:2]) for target in targets)
    assert rooms["harness.paired"] >= {"harness.machine", "harness.rendering"}
    assert circle({room: targets - {room} for room, targets in rooms.items()}) == []


def test_an_import_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert set(circle({"a": {"b"}, "b": {"a"}})) == {"a", "b"}


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
    there = {"grader.inside.protocol.Channel", *(f"grader.inside.{Path(name).stem}" for name in WORKER_FILES)}
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
