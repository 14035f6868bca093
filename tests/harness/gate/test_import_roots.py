"""That a process uses the modules of its own source tree only."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from git_projects import write

from harness.errors import UsageError
from harness.gate.import_roots import check_own_tree, import_roots


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working tree with a copy of itself, as a worker has it, and an installed copy."""
    for folder in ("top/src", "tree/src", "venv/site-packages"):
        write(tmp_path / folder, {"gate_example/__init__.py": "", "gate_example/part.py": ""})
    monkeypatch.setattr(sys, "path", [str(tmp_path / "tree" / "src"), *sys.path])
    return tmp_path


@pytest.mark.parametrize(("place", "own"), [("tree/src", True), ("top/src", False), ("venv/site-packages", False)])
def test_modules_from_another_place_are_refused(
    project: Path, monkeypatch: pytest.MonkeyPatch, place: str, own: bool
) -> None:
    monkeypatch.setattr(sys, "path", [str(project / place), *sys.path])
    for name in ("gate_example", "gate_example.part"):
        monkeypatch.setitem(sys.modules, name, importlib.import_module(name))
    if own:
        check_own_tree(str(project / "tree"), str(project / "top"))
    else:
        with pytest.raises(UsageError, match="A worker imported gate_example from"):
            check_own_tree(str(project / "tree"), str(project / "top"))


def test_the_folders_of_editable_installations_are_import_roots(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = project / "top"
    write(top, {"library/a/__init__.py": "", "names/b.py": "", "inner/hatched/__init__.py": ""})
    module = ModuleType("__editable___example_finder")
    mapping = {"a": str(top / "library/a"), "b": str(top / "names/b.py"), "c": str(project / "elsewhere/c")}
    module.MAPPING = mapping  # type: ignore[attr-defined]
    setuptools_finder = type("_EditableFinder", (), {"__module__": module.__name__})
    hatch = {"hatched": str(top / "inner/hatched/__init__.py")}
    hatch_finder = type("RedirectingFinder", (), {"_redirections": hatch})
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, setuptools_finder, hatch_finder])
    monkeypatch.setattr(sys, "path", [str(top / "by_pth"), str(top / ".venv/site-packages"), *sys.path])
    write(top, {"by_pth/x.py": "", ".venv/site-packages/y.py": ""})
    found = {str(each.relative_to(top)) for each in import_roots(top, top)}
    assert found == {"src", "by_pth", "library", "names", "inner", "."}


def test_a_project_with_a_package_of_the_same_name_needs_the_other_distribution(tmp_path: Path) -> None:
    write(tmp_path, {"harness/__init__.py": ""})
    with pytest.raises(UsageError, match="fairclock-duel"):
        import_roots(tmp_path, tmp_path)
