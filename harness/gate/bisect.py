"""Find the first commit that made a statement slower: `fairclock bisect GOOD BAD -- STATEMENT`.

Each candidate is compared with GOOD as `pytest --duel` does it, and an undecided comparison is repeated with more time.
So a noisy machine makes the search longer, but it does not lead it to another commit.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import indent
from typing import Final

from harness.errors import FairclockError, UsageError
from harness.gate import wording
from harness.gate.base import Repository, find_base
from harness.gate.measuring import measure_once
from harness.gate.outcomes import BenchmarkOutcome, GateVerdict
from harness.gate.settings import ALLOWED, GateBenchmark, GateSide
from harness.gate.trees import check_out, ended_by_signals, side_of, temporary_folder
from harness.gate.verdicts import MEASUREMENT_ERROR

LIMITS_S: Final = (10.0, 40.0)
"""Time limits of a comparison. The next one is used if the verdict is UNDECIDED."""

_FILE: Final = "test_statement.py"
_BENCHMARK: Final = f"{_FILE}::test_statement"
_CLEAR: Final = {GateVerdict.SLOWER: True, GateVerdict.SAME: False, GateVerdict.FASTER: False}

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
    report: Callable[[str], object] = print,
) -> str:
    """Return a text with the first commit after `good`, up to `bad`, at which the statement is slower than at `good`.

    `allowed` is the largest change that is not slower (0.01 is 1 %), by default half of the change from `good` to
    `bad`. Only the first parents of commits are searched. `report` gets a line for each tested commit. Raise
    `UsageError` if a revision does not exist, or if the statement is not slower at `bad`.
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
        folder = ending.enter_context(temporary_folder(repository))
        (folder / _FILE).write_text(_test(statement, setup), encoding="utf-8")
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        error = MEASUREMENT_ERROR / (1 + math.ceil(math.log2(len(commits))))
        search = _Search(repository, folder, ending, first, error)
        found = search.outcome(last, allowed or ALLOWED)
        if found.change is None:
            failed = bad if found.verdict is GateVerdict.BROKEN else good
            raise UsageError(f"The statement does not run at {failed}. {found.why}")
        if found.verdict is not GateVerdict.SLOWER:
            raise UsageError(
                f"From {good} to {bad}, the statement has not clearly become slower. {search.line(last, found)}"
            )
        report(search.line(last, found))
        if allowed is None:
            allowed = math.sqrt(1 + found.change.measured) - 1

        def judge(commit: str) -> bool | None:
            try:
                found = search.outcome(commit, allowed)
            except FairclockError as error:
                report(f"{search.title(commit)}: skipped. {error}")
                return None
            report(search.line(commit, found))
            return _CLEAR.get(found.verdict)

        suspects = first_slow(commits, judge)
    listed = "\n".join(search.title(each, name="%H") for each in suspects)
    if len(suspects) == 1:
        return f"The first slow commit is\n{listed}"
    return f"The first slow commit is one of these, of which all but the last were skipped:\n{listed}"


def _test(statement: str, setup: str) -> str:
    """Return the source of a test whose body is the statement. The value of an expression is its result."""
    try:
        compile(f"({statement}\n)", _FILE, "eval")
        body = f"return (\n{statement}\n)"
    except SyntaxError:
        body = statement
    return f"import pytest\n{setup}\n\n@pytest.mark.duel\ndef test_statement():\n{indent(body, '    ')}\n"


@dataclass(frozen=True, slots=True)
class _Search:
    """Compares commits with the commit `good`. Their trees lie in `folder`, at paths of equal length."""

    repository: Repository
    folder: Path
    ending: ExitStack
    good: str
    error: float

    def outcome(self, commit: str, allowed: float) -> BenchmarkOutcome:
        """Return the outcome of a comparison in which `good` is BASE."""
        sides = self._side(self.good), self._side(commit)
        for limit_s in LIMITS_S:
            found = measure_once(sides, GateBenchmark(_BENCHMARK, allowed, limit_s), self.error)
            if found.verdict is not GateVerdict.UNDECIDED:
                break
        return found

    def _side(self, commit: str) -> GateSide:
        """Return a side whose tree is that of a commit, which is made if necessary."""
        top, tree = self.repository.top, self.folder / commit
        if not tree.exists():
            check_out(self.repository, commit, tree, self.ending)
        side = side_of(commit, tree, top, top)
        configured = ("--rootdir", str(self.folder), "-c", str(self.folder / "pytest.ini"), "-p", "no:cacheprovider")
        alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}  # the statement needs no other plug-in
        return replace(side, environment=side.environment | alone, arguments=(*configured, str(self.folder / _FILE)))

    def title(self, commit: str, name: str = "%h") -> str:
        """Return the name of a commit and the subject of its message."""
        return self.repository.output("log", "-1", f"--format={name} %s", commit).strip()

    def line(self, commit: str, found: BenchmarkOutcome) -> str:
        """Return what was found about a commit, in one line."""
        change = wording.in_brackets(found.change, found.allowed or ALLOWED) if found.change else ""
        return (
            f"{self.title(commit)}: {' '.join(filter(None, (found.verdict.upper(), change, wording.text(found.why))))}"
        )
