"""Make the two source trees that a gate compares: BASE, and a copy of the working tree.

Both lie in one temporary folder, at paths of equal length, because the length of a path changes the memory layout of a
process. The tests come from the working tree on both sides. At the end, the folder is removed, and git forgets it.
"""

import os
import shutil
import signal
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import FrameType
from typing import IO, Final

from harness.errors import MachineError, UsageError
from harness.gate import dependencies
from harness.gate.base import Base, Repository
from harness.gate.import_roots import TREE_VARIABLE, import_roots, is_installed, python_path
from harness.gate.settings import GateSide
from harness.processes import process_env

if sys.platform != "win32":
    import fcntl

_PREFIX: Final = "fairclock-duel-"
_LOCK: Final = "lock"
_TEST_FOLDERS: Final = frozenset({"test", "tests", "bench", "benches", "benchmark", "benchmarks"})
_SOURCES_OF_EXTENSIONS: Final = (".c", ".cc", ".cpp", ".cu", ".h", ".hpp", ".pyx", ".pxd", ".rs", ".f90", ".f")

# Some of these describe the process of the user's pytest, and others would start coverage in the workers.
_NOT_INHERITED: Final = (
    *("PYTEST_CURRENT_TEST", "PYTEST_VERSION", "PYTEST_XDIST_", "COV_CORE_", "COVERAGE_"),
    *("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"),
)
_NOT_SET: Final = frozenset({"PATH", "HOME", "LC_ALL", "CUDA_VISIBLE_DEVICES", "PYTHONDONTWRITEBYTECODE"})


@dataclass(frozen=True, slots=True)
class Project:
    """A project as pytest sees it: its root folder, the files or folders of the benchmarks, and pytest's configuration.

    Tests, and the configuration file, of the working tree replace those of BASE.
    """

    root: Path
    tests: frozenset[Path]
    configuration: Path | None = None


@contextmanager
def source_trees(
    repository: Repository, base: Base, project: Project, report: Callable[[str], object] = print
) -> Iterator[tuple[GateSide, GateSide]]:
    """Yield the sides `base` and `here`, each with its own source tree. Remove both trees at the end, or if it fails.

    If something takes long, such as the installation of other dependencies of BASE, `report` gets a line about it.
    SIGTERM and SIGHUP end this process in the usual way, so that the trees are removed then, too.
    """
    top, root = repository.top, project.root.resolve()
    with ExitStack() as ending:
        ending.enter_context(ended_by_signals())
        folder = ending.enter_context(temporary_folder(repository))
        trees = {name: folder / name for name in ("base", "here")}
        _copy_working_tree(repository, trees["here"])
        if base.wheel:
            _unpack(base.wheel, trees["base"] / root.relative_to(top))
        else:
            check_out(repository, base.commit, trees["base"], ending)
        inner = root.relative_to(top)
        has_packages = _install_missing(trees["base"] / inner, trees["here"] / inner, folder, report)
        _lay_over(trees["here"], trees["base"], _overlaid(top, root, project))
        packages = {name: folder / f"{name}-packages" if has_packages else None for name in trees}
        base_side, here_side = (side_of(name, tree, top, root, packages[name]) for name, tree in trees.items())
        yield base_side, here_side


def side_of(name: str, tree: Path, top: Path, root: Path, packages: Path | None = None) -> GateSide:
    """Return the side whose tree stands for the working tree `top`. `root` is the folder of the project in `top`.

    `packages` is a folder with packages that are installed only for this side.
    """
    path = python_path(import_roots(top, root), top, tree, packages)
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(_NOT_INHERITED)}
    usual = {key: value for key, value in process_env.ENVIRONMENT.items() if key not in _NOT_SET}
    own = {"PYTHONPATH": path, TREE_VARIABLE: os.pathsep.join(map(str, (tree, top)))}
    return GateSide(name, tree / root.relative_to(top), sys.executable, {**usual, **inherited, **own})


def _install_missing(base: Path, here: Path, folder: Path, report: Callable[[str], object]) -> bool:
    """Install the dependencies that only BASE declares, if they are not installed, and return whether there are any."""
    requirements = dependencies.missing(dependencies.declared(base), dependencies.declared(here))
    if requirements:
        report(f"duel: BASE has other dependencies, which are installed for it: {', '.join(requirements)}")
        dependencies.install(requirements, folder / "base-packages")
    return bool(requirements)


def check_out(repository: Repository, commit: str, tree: Path, ending: ExitStack) -> None:
    """Make a working tree of a commit until the end of `ending`, with this tree's submodules and extension modules.

    Raise `UsageError` if the sources of extension modules differ.
    """
    ending.callback(_forget, repository, tree)
    repository.output("worktree", "add", "--detach", str(tree), commit)
    for line in repository.files("--cached", "--stage"):
        if line.startswith("160000"):  # a submodule, of which git has made an empty folder
            name = line.partition("\t")[2]
            _copy(repository.top / name, tree / name)
    if extensions := _extensions(repository):
        for name in repository.output("diff", "--name-only", "-z", commit).split("\0"):
            if name.endswith(_SOURCES_OF_EXTENSIONS):
                raise UsageError(
                    f"{commit[:12]} needs its own extension modules, because {name} has changed. Build a wheel of it, "
                    "and pass the path of the wheel to --duel: "
                    f"pip wheel --no-deps -w dist git+file://{repository.top}@{commit[:12]}"
                )
    for name in extensions:
        _copy(repository.top / name, tree / name)


def _extensions(repository: Repository) -> list[str]:
    """Return the built extension modules in the working tree, which git ignores, apart from installed ones."""
    ignored = repository.files("--others", "--ignored", "--exclude-standard")
    return [name for name in ignored if name.endswith(tuple(EXTENSION_SUFFIXES)) and not is_installed(Path(name))]


def _copy_working_tree(repository: Repository, tree: Path) -> None:
    for name in [*repository.files("--cached", "--others", "--exclude-standard"), *_extensions(repository)]:
        if not name.endswith("/"):  # an untracked repository of its own
            _copy(repository.top / name, tree / name)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():  # a submodule
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(".git"), dirs_exist_ok=True)
    elif source.is_symlink() or source.is_file():  # otherwise, it was deleted in the working tree
        shutil.copy2(source, target, follow_symlinks=False)


def _overlaid(top: Path, root: Path, project: Project) -> list[Path]:
    """Return the files and folders of tests that replace those of BASE, relative to `top`.

    If a benchmark lies in a folder of tests, the whole folder is replaced, because it may contain helpers and data.
    """
    found = {project.configuration} if project.configuration else set[Path]()
    for test in (file.parent.resolve() / file.name for file in project.tests):  # the way here may have a symbolic link
        inner = [each for each in test.parents if each.is_relative_to(root) and each != root]
        found.add(next((each for each in reversed(inner) if each.name.lower() in _TEST_FOLDERS), test))
    return [path.relative_to(top) for path in found if path.is_relative_to(top)]


def _lay_over(here: Path, base: Path, overlaid: Iterable[Path]) -> None:
    for file in list(base.rglob("conftest.py")):
        file.unlink()
    for path in [*overlaid, *(file.relative_to(here) for file in here.rglob("conftest.py"))]:
        if (base / path).is_dir():
            shutil.rmtree(base / path)
        (base / path).unlink(missing_ok=True)
        _copy(here / path, base / path)


def _unpack(wheel: Path, target: Path) -> None:
    target.mkdir(parents=True)
    try:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
    except (zipfile.BadZipFile, OSError) as error:
        raise UsageError(f"{wheel} cannot be unpacked: {error}. Build it again.") from None
    for kind in ("purelib", "platlib"):
        for data in target.glob(f"*.data/{kind}"):
            shutil.copytree(data, target, dirs_exist_ok=True)


@contextmanager
def temporary_folder(repository: Repository) -> Iterator[Path]:
    """Yield a new folder with a lock, which shows other runs that it is in use. Remove what killed runs have left."""
    _remove_left_over(repository)
    try:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
    except OSError as error:
        raise MachineError(f"No temporary folder can be made: {error}. Set TMPDIR to a folder with space.") from None
    try:
        with (folder / _LOCK).open("w") as lock:
            _lock(lock)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _lock(file: IO[str]) -> bool:
    """Lock an open file until it is closed, and return whether this succeeded."""
    if sys.platform == "win32":
        return False
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _remove_left_over(repository: Repository) -> None:
    for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError), lock.open("r+") as file:
            if _lock(file):
                shutil.rmtree(lock.parent, ignore_errors=True)
    for tree in repository.worktrees():
        if tree.parent.name.startswith(_PREFIX) and not tree.exists():
            _forget(repository, tree)


def _forget(repository: Repository, tree: Path) -> None:
    """Remove a working tree. It is locked if git was killed while it made the tree, so the option is given twice."""
    repository.run("worktree", "remove", "--force", "--force", str(tree))


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raise `KeyboardInterrupt` at SIGTERM and SIGHUP, as at SIGINT, until the end of the `with` block."""

    def end(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)  # until the trees are removed
        raise KeyboardInterrupt(f"ended by {signal.Signals(number).name}")

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    with ExitStack() as restored:
        for number in numbers:
            with suppress(ValueError):  # not the main thread
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, end)
                    restored.callback(signal.signal, number, signal.SIG_DFL)
        yield
