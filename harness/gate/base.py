"""Find the revision or the wheel that `--duel BASE` names. If there is none, say which command gets it."""

import difflib
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Final

from harness.errors import MachineError, UsageError

_REMOTE_S: Final = 20.0  # time limit for a question to a remote repository
_LOCAL: Final = (  # a hook of git sets these variables, which name the repository, its index and its files
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"),
    *("GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE"),
)


class Repository:
    """The git repository that contains a folder. `top` is the top folder of its working tree."""

    def __init__(self, folder: Path) -> None:
        self.top = folder
        found = self.run("rev-parse", "--show-toplevel")
        if found.returncode == 0 and found.stdout.strip():
            self.top = Path(found.stdout.strip()).resolve()
        elif "dubious ownership" in found.stderr:
            trust = f"git config --global --add safe.directory {quote(str(folder))}"
            raise UsageError(f"git does not trust {folder}, because it belongs to another user. Run: {trust}")
        else:
            raise UsageError(
                f"Only revisions of git can be compared, but {folder} is not in the working tree of a git repository. "
                "Run it in a clone of the project, or use `git init` and commit a version to compare with."
            )

    def run(self, *arguments: str, timeout_s: float | None = None) -> subprocess.CompletedProcess[str]:
        """Run git in the top folder, and return its exit status and its output. No hook and no prompt of git runs."""
        inherited = {name: value for name, value in os.environ.items() if name not in _LOCAL}
        environment = {**inherited, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8", "GIT_OPTIONAL_LOCKS": "0"}
        try:
            return subprocess.run(
                ["git", "-c", f"core.hooksPath={os.devnull}", "-c", "core.quotePath=false", *arguments],
                cwd=self.top,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="surrogateescape",
                timeout=timeout_s,
                check=False,
            )
        except FileNotFoundError:
            raise MachineError("Comparing revisions needs git. Install it, for example: apt install git") from None
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(arguments, 124, "", f"no answer within {timeout_s:.0f} s")

    def output(self, *arguments: str) -> str:
        """Return the output of a git command. If git refuses, raise `MachineError` with git's reason."""
        done = self.run(*arguments)
        if done.returncode:
            reason = next(iter(done.stderr.strip().splitlines()[-1:]), f"exit status {done.returncode}")
            raise MachineError(f"git {arguments[0]} failed: {reason.rstrip('.')}. Correct this, and run it again.")
        return done.stdout

    def files(self, *kinds: str) -> list[str]:
        """Return the files of the working tree that `git ls-files` lists with these options, relative to `top`."""
        return [name for name in self.output("ls-files", "-z", *kinds).split("\0") if name]

    def commit(self, name: str) -> str:
        """Return the full name of the commit that a revision names, or "" if there is none.

        A branch that exists only in a remote repository, such as `main` in a clone of CI, is found under its name too.
        """
        for candidate in (name, *(f"refs/remotes/{remote}/{name}" for remote in self.remotes())):
            done = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{candidate}^{{commit}}")
            if done.returncode == 0:
                return done.stdout.strip()
        return ""

    def worktrees(self) -> list[Path]:
        """Return the folders of all working trees of the repository, even those that are gone."""
        lines = self.run("worktree", "list", "--porcelain").stdout.splitlines()
        return [Path(line.removeprefix("worktree ")) for line in lines if line.startswith("worktree ")]

    def remotes(self) -> list[str]:
        """Return the names of the remote repositories. `origin` is the first one."""
        return sorted(self.run("remote").stdout.split(), key=lambda name: (name != "origin", name))

    def why_missing(self, name: str) -> str:
        """Return why there is no commit with this name, and the command that gets it or that lists the others."""
        if self.commit("HEAD") == "":
            return "This git repository has no commit yet, so there is nothing to compare with. Commit a version first."
        shallow = self.run("rev-parse", "--is-shallow-repository").stdout.strip() == "true"
        what = f"This clone does not have {name}"
        depth = "--depth 1 " if shallow else ""  # of a complete clone, this option would make a shallow one
        if source := next(filter(None, (self._source(remote, name) for remote in self.remotes())), ""):
            return f"{what}. Run: git fetch {depth}{source}"
        if shallow and (remotes := self.remotes()):
            if re.fullmatch(r"[0-9a-f]{40}", name):
                return f"{what}, because it is shallow. Run: git fetch --depth 1 {remotes[0]} {name}"
            return f"{what}, because it is shallow. Run: git fetch --unshallow {remotes[0]}"
        known = self.run("for-each-ref", "--format=%(refname:short)").stdout.split()
        close = difflib.get_close_matches(name, known)
        more = f"Did you mean {' or '.join(close)}?" if close else "Run `git branch -a` and `git tag` to list them."
        return f"There is no branch, tag or commit {name!r} in this repository. {more}"

    def _source(self, remote: str, name: str) -> str:
        """Return the arguments of `git fetch` for a branch or tag of a remote repository, or "" if it is not there."""
        branch = name.removeprefix(f"{remote}/")
        listed = self.run("ls-remote", remote, f"refs/heads/{branch}", f"refs/tags/{name}", timeout_s=_REMOTE_S).stdout
        if f"refs/heads/{branch}" in listed.split():
            return f"{remote} {quote(f'{branch}:refs/remotes/{remote}/{branch}')}"
        return f"{remote} tag {quote(name)}" if f"refs/tags/{name}" in listed.split() else ""


@dataclass(frozen=True, slots=True)
class Base:
    """What BASE names: a commit, or a wheel. `typed` is BASE as it was typed, and `commit` is "" for a wheel."""

    typed: str
    commit: str
    wheel: Path | None = None


def find_base(typed: str, repository: Repository, folder: Path) -> Base:
    """Return the commit or the wheel that `typed` names. A path of a wheel is relative to `folder`.

    Raise `UsageError` if there is none. The message has the command that gets it.
    """
    if typed.endswith(".whl"):
        wheel = (folder / typed).resolve()
        if not wheel.is_file():
            raise UsageError(f"There is no wheel {wheel}. Build one, for example with: pip wheel --no-deps -w dist .")
        _check_tags(wheel)
        return Base(typed, "", wheel)
    if commit := "" if typed.startswith("-") or not typed.strip() else repository.commit(typed):
        return Base(typed, commit)
    raise UsageError(repository.why_missing(typed))


def _check_tags(wheel: Path) -> None:
    from packaging.tags import sys_tags  # noqa: PLC0415 - takes 10 ms
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename  # noqa: PLC0415

    try:
        tags = parse_wheel_filename(wheel.name)[3]
    except InvalidWheelFilename as error:
        raise UsageError(f"{error}. Give the wheel the name with which it was built.") from None
    if tags.isdisjoint(sys_tags()):
        raise UsageError(
            f"{wheel.name} is for another version of Python or another system. Build it here: pip wheel --no-deps ."
        )
