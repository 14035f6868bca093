"""Find the first commit that made a statement slower: `fairclock bisect GOOD BAD -- STATEMENT`.

Each candidate is compared with GOOD in a duel with new pairs of processes, and an undecided duel is repeated with more
time. So a noisy machine makes the search longer, but it does not lead it to another commit.
"""

import math
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.errors import FairclockError, UsageError
from harness.gate.base import Repository, find_base
from harness.gate.import_roots import import_roots, is_installed
from harness.gate.trees import check_out, ended_by_signals, temporary_folder
from harness.paired.duel import MARGIN, Duel, Finding, duel

BUDGETS_S: Final = (1.0, 4.0, 16.0)
"""Time limits of a duel. The next one is used if the verdict is UNDECIDED."""

Judge = Callable[[str], bool | None]
"""Return whether a commit is slow, or None if it is skipped, because it does not run or remains undecided."""


def first_slow(commits: Sequence[str], judge: Judge) -> Sequence[str]:
    """Return the first slow commit. `commits` are in order. The commit before them is fast, and the last one is slow.

    If commits before it were skipped, they are in the result, too, because each of them can be the first slow one.
    """
    fast, slow = -1, len(commits) - 1
    skipped = set[int]()
    while untested := [each for each in range(fast + 1, slow) if each not in skipped]:
        tested = min(untested, key=lambda each: abs(2 * each - fast - slow))
        is_slow = judge(commits[tested])
        if is_slow is None:
            skipped.add(tested)
        elif is_slow:
            slow = tested
        else:
            fast = tested
    return commits[fast + 1 : slow + 1]


def bisect(
    folder: Path,
    good: str,
    bad: str,
    statement: str,
    setup: str = "pass",
    allowed: float | None = None,
    tell: Callable[[str], object] = print,
) -> str:
    """Return a text with the first commit after `good`, up to `bad`, at which the statement is slower than at `good`.

    `allowed` is the largest change that is not slower (0.01 is 1 %), by default half of the change from `good` to
    `bad`. Only the first parents of commits are searched. `tell` gets a line for each tested commit. Raise `UsageError`
    if a revision does not exist, or if the statement is not slower at `bad`.
    """
    repository = Repository(folder)
    first, last = (find_base(each, repository, folder).commit for each in (good, bad))
    if not first or not last or repository.run("merge-base", "--is-ancestor", first, last).returncode:
        raise UsageError(f"{good} is not an earlier commit of the history of {bad}. Give two commits of one branch.")
    commits = repository.output("rev-list", "--first-parent", "--reverse", f"{first}..{last}").split()
    if not commits:
        raise UsageError(f"{good} and {bad} are the same commit. Give an earlier commit as GOOD.")
    with ExitStack() as ending:
        ending.enter_context(ended_by_signals())
        duels = _Duels(repository, ending.enter_context(temporary_folder(repository)), ending, first, statement, setup)
        found = duels.verdict(last, allowed or MARGIN)
        tell(f"{_title(repository, last)}: {found}")
        if found.verdict is not Finding.SLOWER:
            raise UsageError(f"From {good} to {bad}, the statement has not clearly become slower. {found}")
        if allowed is None:
            allowed = math.sqrt(1 / found.ratio) - 1

        def judge(commit: str) -> bool | None:
            try:
                found = duels.verdict(commit, allowed)
            except FairclockError as error:
                tell(f"{_title(repository, commit)}: skipped. {error}")
                return None
            tell(f"{_title(repository, commit)}: {found}")
            return None if found.verdict is Finding.UNDECIDED else found.verdict is Finding.SLOWER

        suspects = first_slow(commits, judge)
    listed = "\n".join(_title(repository, each, full=True) for each in suspects)
    if len(suspects) == 1:
        return f"The first slow commit is\n{listed}"
    return f"The first slow commit is one of these, of which all but the last were skipped:\n{listed}"


@dataclass(frozen=True, slots=True)
class _Duels:
    """Compares commits with the commit `good`. Their trees lie in `folder`, at paths of equal length."""

    repository: Repository
    folder: Path
    ending: ExitStack
    good: str
    statement: str
    setup: str

    def verdict(self, commit: str, allowed: float) -> Duel:
        """Return the duel of a commit, as the candidate, with the commit `good`."""
        setups = [self._setup(each) for each in (self.good, commit)]
        for budget_s in BUDGETS_S:
            found = duel(
                self.statement,
                self.statement,
                baseline_setup=setups[0],
                candidate_setup=setups[1],
                margin=allowed,
                budget_s=budget_s,
                paired_processes=True,
            )
            if found.verdict is not Finding.UNDECIDED:
                break
        return found

    def _setup(self, commit: str) -> str:
        """Return the setup that imports the project's modules from the tree of a commit, which is made if necessary."""
        top, tree = self.repository.top, self.folder / commit
        if not tree.exists():
            check_out(self.repository, commit, tree, self.ending)
        own = [tree / root.relative_to(top) for root in import_roots(top, top)]
        others = [path for path in sys.path if not Path(path).resolve().is_relative_to(top) or is_installed(Path(path))]
        path = [str(each) for each in (*own, *others)]
        check = f'__import__("harness.gate.import_roots", fromlist="*").check_own_tree({str(tree)!r}, {str(top)!r})'
        return f'__import__("sys").path[:] = {path!r}\n{self.setup}\n{check}'


def _title(repository: Repository, commit: str, *, full: bool = False) -> str:
    return repository.output("log", "-1", f"--format=%{'H' if full else 'h'} %s", commit).strip()
