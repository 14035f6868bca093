"""The folders from which a project's own modules are imported, and the check that a process used only its own tree.

The workers of each side have these folders in PYTHONPATH, before all installed packages. So each side imports its own
sources, even if the project is installed, as a copy or as an editable installation.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.processes.launcher import KIT

TREE_VARIABLE: Final = "FAIRCLOCK_DUEL_TREE"
"""Environment variable of a worker: the folder of its tree, and the project's working tree, with a ":" between them."""

PACKAGE: Final = __name__.partition(".")[0]  # of this module; in the small distribution, it has another name
_INSTALLED: Final = ("site-packages", "dist-packages")


def import_roots(top: Path, root: Path) -> list[Path]:
    """Return the folders below `top` from which this process can import, and the project's folders `src` and `root`.

    `root` is pytest's root folder. It contains the import path of this process, with pytest's setting `pythonpath`, and
    the sources of editable installations. Raise `UsageError` if the project has a package with the name of ours.
    """
    listed = [root / "src", *map(Path, filter(None, sys.path)), *_editable_folders(), root]
    below = dict.fromkeys(folder.resolve() for folder in listed)
    found = [each for each in below if each.is_relative_to(top) and each.is_dir() and not is_installed(each)]
    if any(_has_module(folder, PACKAGE) for folder in found):
        raise UsageError(
            f"The project has a package {PACKAGE}, and so has fairclock. Use the distribution fairclock-duel instead, "
            "whose package has another name: .ci/duel-wheel DIR"
        )
    return found


def is_installed(path: Path) -> bool:
    """Return whether this path lies in an environment of Python, which a working tree may contain."""
    return not set(_INSTALLED).isdisjoint(path.parts)


def _editable_folders() -> Iterator[Path]:
    """Yield the folders whose packages the import hooks of editable installations (setuptools, hatch) find."""
    for finder in sys.meta_path:
        module = sys.modules.get(getattr(finder, "__module__", None) or "")
        for holder, name in ((module, "MAPPING"), (finder, "_redirections")):
            mapping = getattr(holder, name, None)
            if isinstance(mapping, Mapping):
                yield from (folder for item in mapping.items() if (folder := _folder_of(*map(str, item))))


def _folder_of(package: str, place: str) -> Path | None:
    """Return the folder from which `import package` finds the package or module at `place`, or None."""
    path = Path(place.removesuffix("/__init__.py"))
    for part in reversed(package.split(".")):
        if path.stem != part:  # a package with another name than its folder
            return None
        path = path.parent
    return path


class ForeignModuleError(UsageError):
    """A process has imported a module of the project from another place than its own source tree."""


def check_own_tree(tree: str, top: str) -> None:
    """Raise `ForeignModuleError` if this process has imported a module of the project from another place than `tree`.

    Such a module lies in the project's working tree `top`, or it is an installed copy of a module that `tree` contains.
    """
    inside, ours, working_tree = (f"{folder}{os.sep}" for folder in (tree, KIT / PACKAGE, top))
    roots = [Path(path) for path in sys.path if f"{path}{os.sep}".startswith(inside)]
    own = {entry.stem for root in roots if root.is_dir() for entry in root.iterdir()}
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None) or ""
        if not file or file.startswith((inside, ours)):
            continue
        elsewhere = file.startswith(working_tree) and not is_installed(Path(file))
        if elsewhere or (name in own and any(_has_module(root, name) for root in roots)):
            raise ForeignModuleError(
                f"A worker imported {name} from {file}, not from its own source tree {tree}. Install the project so "
                "that PYTHONPATH comes first (pip install -e . with setuptools or hatchling), or remove it with "
                "`pip uninstall`."
            )


def check_worker() -> None:
    """Call `check_own_tree` in a worker. Do nothing in other processes."""
    if places := os.environ.get(TREE_VARIABLE):
        check_own_tree(*places.split(os.pathsep))


def _has_module(root: Path, name: str) -> bool:
    return (root / name / "__init__.py").is_file() or (root / f"{name}.py").is_file()


def python_path(roots: Iterable[Path], top: Path, tree: Path, packages: Path | None = None) -> str:
    """Return PYTHONPATH of the workers of a tree: the import roots of `top`, as folders of `tree`, before all others.

    `packages` is a folder with packages that are installed only for this tree.
    The package that contains this module comes last, because the project may lie in the same folder.
    """
    own = [tree / root.relative_to(top) for root in roots]
    inherited = map(Path, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    others = [path for path in inherited if not path.resolve().is_relative_to(top)]
    return os.pathsep.join(map(str, dict.fromkeys([*own, *filter(None, [packages]), *others, KIT])))
