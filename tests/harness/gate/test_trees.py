"""The two source trees of a gate: what they contain, and that nothing of them is left."""

import importlib.machinery
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from git_projects import commit, git, write, write_wheel

from harness.errors import UsageError
from harness.gate.base import Base, Repository, find_base
from harness.gate.settings import GateSide
from harness.gate.trees import Project, source_trees
from harness.processes.launcher import KIT

pytestmark = pytest.mark.program("git")

BUILT = f"package/fast{importlib.machinery.EXTENSION_SUFFIXES[0]}"
FILES = {
    ".gitignore": "*.so\n*.pyd\nlarge/\n.venv/\n",
    "src/package/__init__.py": "VERSION = 'base'\n",
    "src/package/gone.py": "",
    "tests/test_speed.py": "def test_speed(benchmark): ...\n",
    "tests/data.txt": "old",
    "conftest.py": "",
    "docs/conftest.py": "",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    folder = tmp_path / "project"
    commit(folder, FILES)
    (folder / "src/package/gone.py").unlink()
    git(folder, "rm", "-q", "docs/conftest.py")
    write(folder, {"src/package/__init__.py": "VERSION = 'here'\n", "src/package/new.py": "", "tests/data.txt": "new"})
    write(folder, {f"src/{BUILT}": "", "large/data.bin": "", ".venv/lib/site-packages/other.so": ""})
    return folder


def compared(folder: Path, base: str = "main") -> tuple[Repository, Base, Project]:
    repository = Repository(folder)
    return repository, find_base(base, repository, folder), Project(folder, frozenset({folder / "tests/test_speed.py"}))


def files(tree: Path) -> set[str]:
    return {str(file.relative_to(tree)) for file in tree.rglob("*") if file.is_file() and file.name != ".git"}


def imported_version(side: GateSide) -> str:
    command = [side.python, "-P", "-c", "import package; print(package.VERSION)"]
    done = subprocess.run(command, env=side.environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_here_is_the_working_tree_without_what_git_ignores(project: Path) -> None:
    with source_trees(*compared(project)) as (_, here):
        expected = {*FILES, "src/package/new.py", f"src/{BUILT}"} - {"src/package/gone.py", "docs/conftest.py"}
        assert files(here.root) == expected
        assert (here.root / "src/package/__init__.py").read_text() == "VERSION = 'here'\n"


def test_base_has_its_own_sources_and_the_tests_of_the_working_tree(project: Path) -> None:
    with source_trees(*compared(project)) as (base, here):
        assert (base.root / "src/package/__init__.py").read_text() == "VERSION = 'base'\n"
        assert files(base.root) == {*FILES, f"src/{BUILT}"} - {"docs/conftest.py"}
        assert (base.root / "tests/data.txt").read_text() == "new"
        assert len(str(base.root)) == len(str(here.root))


def test_each_side_imports_its_own_sources(project: Path) -> None:
    with source_trees(*compared(project)) as sides:
        for side in sides:
            assert imported_version(side) == side.name


def test_the_sides_differ_only_in_their_folders(project: Path) -> None:
    with source_trees(*compared(project)) as (base, here):
        changed = {name: value.replace("/base", "/here") for name, value in base.environment.items()}
        assert changed == here.environment
        assert here.environment["PYTHONPATH"].split(os.pathsep)[-1] == str(KIT)


def test_a_project_below_the_top_folder_keeps_the_rest_of_the_repository(project: Path) -> None:
    inner, repository = project / "services" / "api", Repository(project)
    write(inner, {"test_api.py": "", "api.py": ""})
    with source_trees(
        repository, find_base("main", repository, inner), Project(inner, frozenset({inner / "test_api.py"}))
    ) as (base, here):
        assert here.root.parts[-2:] == ("services", "api")
        assert files(base.root) == {"test_api.py"}
        assert (base.root.parents[1] / "src/package/__init__.py").exists()


def test_nothing_is_left_after_an_error(project: Path, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), source_trees(*compared(project)):
        raise ZeroDivisionError
    assert list((tmp_path / "temporary").iterdir()) == []
    assert len(Repository(project).worktrees()) == 1


SCRIPT = """
import sys, time
from pathlib import Path
from harness.gate.base import Base, Repository, find_base
from harness.gate.settings import GateSide
from harness.gate.trees import Project, source_trees
folder = Path(sys.argv[1])
repository = Repository(folder)
with source_trees(repository, find_base("main", repository, folder), Project(folder, frozenset())):
    print("ready", flush=True)
    time.sleep(60)
"""


def killed_run(project: Path, temporary: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(KIT)}
    command = [sys.executable, "-c", SCRIPT, str(project)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.kill()


def test_the_next_run_removes_what_a_killed_run_left_and_nothing_that_is_in_use(project: Path, tmp_path: Path) -> None:
    killed_run(project, tmp_path / "temporary")
    assert len(Repository(project).worktrees()) == 2
    with source_trees(*compared(project)) as (base, _), source_trees(*compared(project)):
        assert base.root.exists()
        assert len(Repository(project).worktrees()) == 3
    assert list((tmp_path / "temporary").iterdir()) == []
    assert len(Repository(project).worktrees()) == 1


def test_changed_sources_of_an_extension_module_need_a_wheel_of_base(project: Path) -> None:
    commit(project, {"src/package/fast.c": "int x;"})
    write(project, {"src/package/fast.c": "int y;"})
    with pytest.raises(UsageError, match=r"fast.c has changed.*pip wheel"), source_trees(*compared(project)):
        pass


def test_a_wheel_is_base_with_the_tests_of_the_working_tree(project: Path, tmp_path: Path) -> None:
    contents = {"package/__init__.py": "VERSION = 'base'\n", "package-1.data/purelib/more.py": ""}
    wheel = write_wheel(tmp_path, "package", contents)
    with source_trees(*compared(project, str(wheel))) as (base, _):
        assert {"package/__init__.py", "more.py", "tests/test_speed.py", "tests/data.txt"} <= files(base.root)
        assert not (base.root / "src").exists()
        assert imported_version(base) == "base"
    assert len(Repository(project).worktrees()) == 1


def test_what_only_base_declares_is_installed_for_base(project: Path, tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, "gate_dependency", {"gate_dependency.py": ""})
    (project / "requirements.txt").write_text(f"gate_dependency @ {wheel.as_uri()}\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "with a dependency")
    (project / "requirements.txt").write_text("")
    told: list[str] = []
    with source_trees(*compared(project), told.append) as (base, here):
        assert len(told) == 1
        lengths = {len(side.environment["PYTHONPATH"]) for side in (base, here)}
        assert len(lengths) == 1
        command = [base.python, "-P", "-c", "import gate_dependency"]
        assert subprocess.run(command, env=base.environment, check=False).returncode == 0
        assert subprocess.run(command, env=here.environment, stderr=subprocess.DEVNULL, check=False).returncode == 1


def test_both_sides_have_the_submodules_of_the_working_tree(project: Path, tmp_path: Path) -> None:
    commit(tmp_path / "library", {"library.py": ""})
    git(project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "library"), "vendored")
    commit(project, {})
    with source_trees(*compared(project)) as sides:
        assert all((side.root / "vendored" / "library.py").is_file() for side in sides)


def test_a_project_behind_a_symbolic_link_is_compared(project: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project)
    with source_trees(*compared(tmp_path / "link")) as (base, here):
        assert (base.root / "tests/data.txt").read_text() == "new"
        assert here.root.name == "here"


def test_variables_that_the_user_has_set_stay_the_same(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("COV_CORE_SOURCE", "package")
    monkeypatch.setenv("PYTHONPATH", f"{project / 'src'}{os.pathsep}/elsewhere")
    with source_trees(*compared(project)) as (base, _):
        assert base.environment["OMP_NUM_THREADS"] == "3"
        assert base.environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] == "1"
        assert "COV_CORE_SOURCE" not in base.environment
        path = base.environment["PYTHONPATH"].split(os.pathsep)
        assert "/elsewhere" in path
        assert str(project / "src") not in path
