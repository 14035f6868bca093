"""Which dependencies of BASE are installed for it, and what a user reads if that fails."""

import subprocess
from pathlib import Path

import pytest
from git_projects import write

from harness.errors import MachineError
from harness.gate.dependencies import declared, install, missing


def test_dependencies_are_read_from_all_usual_files(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": '[project]\ndependencies = ["a>=1", "b"]\n'})
    write(tmp_path, {"setup.cfg": "[options]\ninstall_requires =\n    c>2\n    d  # why\n"})
    write(tmp_path, {"requirements.txt": "# all\n-r more.txt\ne==3\n\n", "requirements-docs.txt": "sphinx\n"})
    write(tmp_path, {"x-1.dist-info/METADATA": "Name: x\nRequires-Dist: f (>=1)\n\nRequires nothing else\n"})
    assert declared(tmp_path) == {"a>=1", "b", "c>2", "d", "e==3", "f (>=1)"}


def test_files_that_cannot_be_read_declare_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "[project\n", "setup.cfg": "= nothing\n"})
    assert declared(tmp_path) == frozenset()


def test_only_what_differs_and_is_not_installed_is_missing() -> None:
    base = {"pytest>=1", "pytest<1", "no-such-package", "no-such-package-2; python_version < '3'", "unchanged-package"}
    assert missing(frozenset(base), frozenset({"unchanged-package"})) == ["no-such-package", "pytest<1"]


def test_a_failed_installation_is_one_sentence_with_the_reason(tmp_path: Path) -> None:
    def fail(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert command[-2:] == [str(tmp_path), "no-such-package"]
        return subprocess.CompletedProcess(command, 1, "", "WARNING: x\nERROR: No matching distribution.\nmore\n")

    with pytest.raises(MachineError, match=r"no-such-package.*failed: ERROR: No matching distribution\. Install"):
        install(["no-such-package"], tmp_path, fail)
