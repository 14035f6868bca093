"""What BASE can be, and what a user is told if it is not there."""

from pathlib import Path

import pytest
from git_projects import commit, git

from harness.errors import UsageError
from harness.gate.base import Repository, find_base

pytestmark = pytest.mark.program("git")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    commit(tmp_path / "project", {"module.py": "x = 1\n"})
    git(tmp_path / "project", "tag", "v1")
    commit(tmp_path / "project", {"module.py": "x = 2\n"})
    return tmp_path / "project"


def why_missing(folder: Path, base: str) -> str:
    with pytest.raises(UsageError) as caught:
        find_base(base, Repository(folder), folder)
    return str(caught.value)


def test_base_is_a_branch_a_tag_or_the_beginning_of_a_commit(project: Path) -> None:
    first = git(project, "rev-parse", "v1")
    assert find_base("v1", Repository(project), project).commit == first
    assert find_base(first[:9], Repository(project), project).commit == first
    assert find_base("main~1", Repository(project), project).commit == first
    assert find_base("main", Repository(project), project).commit == git(project, "rev-parse", "HEAD")


def test_a_branch_that_only_the_remote_has_is_found(project: Path, tmp_path: Path) -> None:
    git(project, "branch", "release")
    git(tmp_path, "clone", "-q", str(project), "clone")
    found = find_base("release", Repository(tmp_path / "clone"), tmp_path)
    assert found.commit == git(project, "rev-parse", "release")


@pytest.mark.parametrize(
    ("base", "command"),
    [
        ("old", "git fetch --depth 1 origin old:refs/remotes/origin/old"),
        ("v1", "git fetch --depth 1 origin tag v1"),
        ("HEAD~1", "git fetch --unshallow origin"),
        ("main~1", "git fetch --unshallow origin"),
    ],
)
def test_a_shallow_clone_names_the_command_that_fetches_base(
    project: Path, tmp_path: Path, base: str, command: str
) -> None:
    git(project, "branch", "old", "v1")
    git(tmp_path, "clone", "-q", "--depth", "1", "--no-tags", f"file://{project}", "clone")
    clone = tmp_path / "clone"
    assert command in why_missing(clone, base)
    git(clone, *command.split()[1:])
    assert find_base(base, Repository(clone), clone).commit == git(project, "rev-parse", "v1")


def test_a_wrong_name_brings_a_similar_one(project: Path) -> None:
    assert "'mian'" in why_missing(project, "mian")
    assert "Did you mean main?" in why_missing(project, "mian")


@pytest.mark.parametrize("base", ["", "--all", "-h", "main..", "nothing"])
def test_what_names_no_commit_is_refused(project: Path, base: str) -> None:
    assert "There is no branch, tag or commit" in why_missing(project, base)


def test_a_repository_without_a_commit_is_named(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert "no commit yet" in why_missing(tmp_path, "main")


def test_a_folder_outside_git_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not in the working tree of a git repository"):
        Repository(tmp_path)


def test_variables_of_a_git_hook_do_not_lead_to_another_repository(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tmp_path / "other", {"y.py": ""})
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    assert Repository(project).top == project


def test_a_missing_wheel_and_one_of_another_system_are_refused(project: Path) -> None:
    assert "There is no wheel" in why_missing(project, "dist/missing-1-py3-none-any.whl")
    (project / "thing-1-cp27-cp27m-win32.whl").write_bytes(b"")
    assert "another version of Python or another system" in why_missing(project, "thing-1-cp27-cp27m-win32.whl")
    (project / "thing.whl").write_bytes(b"")
    assert "Give the wheel the name" in why_missing(project, "thing.whl")
