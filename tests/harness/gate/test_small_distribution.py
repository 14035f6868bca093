"""The small distribution of the gate, in an environment with nothing else but pytest, compares two revisions."""

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from git_projects import commit, write

from harness.processes.launcher import KIT

pytestmark = [pytest.mark.program("git"), pytest.mark.long]

SOURCE = "def work(n):\n    return sum(i for i in range({} * n))\n"
FILES = {
    ".gitignore": "build/\n*.egg-info/\n__pycache__/\n",
    "pyproject.toml": '[project]\nname = "gate-example"\nversion = "1"\n',
    "pytest.ini": "[pytest]\npythonpath = src\n",
    "src/gate_example/__init__.py": SOURCE.format(1),
    "tests/test_speed.py": "import gate_example\ndef test_work(benchmark):\n    benchmark(gate_example.work, 300)\n",
}
HATCH = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'


def run(*command: object, folder: Path | None = None, code: int = 0) -> str:
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment in which only the small distribution is installed."""
    folder = tmp_path_factory.mktemp("bare")
    run(sys.executable, KIT / ".ci" / "duel-wheel", folder)
    venv.create(folder / "environment", with_pip=True)
    interpreter = folder / "environment" / "bin" / "python"
    run(interpreter, "-m", "pip", "install", "-q", *folder.glob("*.whl"))
    return interpreter


@pytest.fixture
def project(tmp_path: Path) -> Path:
    commit(tmp_path / "project", FILES)
    write(tmp_path / "project", {"src/gate_example/__init__.py": SOURCE.format(3)})
    return tmp_path / "project"


def verdicts(python: Path, project: Path, *options: str, code: int) -> list[str]:
    run(python, "-m", "pytest", "--duel", "main", "--duel-json", "out.json", *options, folder=project, code=code)
    return [outcome["verdict"] for outcome in json.loads((project / "out.json").read_text())["outcomes"]]


def test_it_installs_without_the_packages_that_only_the_lessons_need(python: Path) -> None:
    installed = {each["name"] for each in json.loads(run(python, "-m", "pip", "list", "--format", "json"))}
    assert {"pytest", "psutil", "fairclock-duel"} <= installed
    assert installed.isdisjoint({"torch", "numpy", "rich", "typer"})


def test_no_module_of_the_gate_needs_a_package_that_is_not_installed(python: Path) -> None:
    script = (
        "import pkgutil, importlib, fairclock_duel.gate as gate\n"
        "for each in pkgutil.iter_modules(gate.__path__): importlib.import_module(f'fairclock_duel.gate.{each.name}')\n"
    )
    run(python, "-c", script)


@pytest.mark.parametrize("installed", ["not", "as a copy", "editable with setuptools", "editable with hatchling"])
def test_each_side_uses_its_own_sources_however_the_project_is_installed(
    python: Path, project: Path, installed: str
) -> None:
    if installed != "not":
        if "hatchling" in installed:
            write(project, {"pyproject.toml": HATCH + FILES["pyproject.toml"]})
        editable = ["-e"] if "editable" in installed else []
        run(python, "-m", "pip", "install", "-q", *editable, project)
    try:
        assert verdicts(python, project, "--duel-limit", "3", code=1) == ["slower"]
    finally:
        run(python, "-m", "pip", "uninstall", "-q", "-y", "gate-example")


def test_two_ways_in_one_tree_are_compared(python: Path, project: Path) -> None:
    check = "    assert duel('sum(range(300))', 'sum(range(900))').faster()\n"
    write(project, {"tests/test_ways.py": f"def test_ways(duel):\n{check}"})
    run(python, "-m", "pytest", "tests/test_ways.py", folder=project)


def test_the_first_slow_commit_is_found(python: Path, project: Path) -> None:
    slow = commit(project, {})
    options = ("--setup", "from gate_example import work", "--", "work(300)")
    found = run(python.with_name("fairclock-bisect"), f"{slow}~1", slow, *options, folder=project)
    assert slow in found
    run(python.with_name("fairclock-bisect"), "nothing", slow, "--", "work(300)", folder=project, code=2)
