"""The search for the first slow commit."""

import subprocess
import sys
from pathlib import Path

import pytest
from git_projects import commit, git

from harness.errors import UsageError
from harness.gate.bisect import bisect, first_slow

COMMITS = "abcdefgh"


@pytest.mark.parametrize("slow", COMMITS)
def test_the_first_slow_commit_is_found_in_few_steps(slow: str) -> None:
    tested = list[str]()

    def judge(commit: str) -> bool:
        tested.append(commit)
        return commit >= slow

    assert first_slow(COMMITS, judge) == slow
    assert len(tested) <= 3


@pytest.mark.parametrize(
    ("slow", "skipped", "expected"),
    [
        ("e", "d", "de"),
        ("e", "bcd", "bcde"),
        ("e", "f", "e"),
        ("e", "", "e"),
        ("h", "abcdefg", COMMITS),
        ("c", "e", "c"),
    ],
)
def test_skipped_commits_are_named_only_if_they_may_be_the_first_slow_one(
    slow: str, skipped: str, expected: str
) -> None:
    assert first_slow(COMMITS, lambda each: None if each in skipped else each >= slow) == expected


LOOP = "def work():\n    for _ in range({}): pass\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    commit(folder, {"src/module.py": LOOP.format(2000), "src/other.py": ""})
    git(folder, "tag", "good")
    commit(folder, {"src/module.py": "# x\n" + LOOP.format(2000)})
    commit(folder, {"src/module.py": "this is not Python\n"})
    commit(folder, {"src/module.py": LOOP.format(2000)})
    git(folder, "tag", "slow", commit(folder, {"src/module.py": LOOP.format(3000)}))
    commit(folder, {"src/module.py": LOOP.format(3000) + "# y\n"})
    return folder


@pytest.mark.program("git")
@pytest.mark.long
def test_the_command_prints_the_commit_and_skips_what_does_not_run(project: Path) -> None:
    script = "from grader.fairclock import main; import sys; sys.exit(main())"
    command = [sys.executable, "-c", script, "bisect", "good", "main", "--setup", "from module import work"]
    done = subprocess.run([*command, "--", "work()"], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[1].split()[0] == git(project, "rev-parse", "slow")
    assert len(git(project, "worktree", "list").splitlines()) == 1


@pytest.mark.program("git")
@pytest.mark.parametrize(
    ("good", "bad", "why"),
    [
        ("main", "good", "not an earlier commit"),
        ("good", "good", "the same commit"),
        ("nothing", "main", "no branch, tag or commit 'nothing'"),
    ],
)
def test_impossible_searches_are_refused(project: Path, good: str, bad: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        bisect(project, good, bad, "work()", "from module import work")


@pytest.mark.program("git")
def test_a_statement_that_is_not_slower_is_refused(project: Path) -> None:
    with pytest.raises(UsageError, match="has not clearly become slower"):
        bisect(project, "good", "main", "work()", "from module import work", 3.0)


@pytest.mark.program("git")
@pytest.mark.parametrize(
    ("setup", "statement", "why"),
    [
        ("pass", "1 / 0", "not run at main. ZeroDivisionError"),
        ("from module import new", "new()", "not run at good. ImportError"),
        ("from module import work\nasync def wait(): work()", "wait()", "not run at main. .* coroutine"),
    ],
)
def test_a_statement_that_does_not_run_is_refused(project: Path, setup: str, statement: str, why: str) -> None:
    commit(project, {"src/module.py": LOOP.format(3000) + "new = work\n"})
    with pytest.raises(UsageError, match=why):
        bisect(project, "good", "main", statement, setup)
