"""What the files under `tests/exploits` and `tests/honest` must earn, as the last line of their docstrings says.

`<lesson> earns <points>, <status>: <part of what the report says>`; a race may end in one status `or` another, and say
one thing | or another. The first task of the lesson is meant, or another that is named: `<lesson>.<task>`.

Lines before it may say more of an exploit: `Source:` the public collection or paper that lists it, `Naive:` the flaw of
`exploits/naive.py` that it uses (after options to run that with, as in `Naive --clock user:`), and `Stopped by:` the
layer of this grader that it meets.
"""

import ast
import importlib.util
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

from commanding import CLASS, ROOT, Outcome

from grader import catalogue
from grader.grade import grade_task
from grader.hand_ins.refusal import digest
from grader.isolation import forkserver
from grader.isolation.pool import Pool
from grader.records import Submission, Verdict
from grader.settings import Settings
from grader.task import Limits, Task
from grader.trials import speed
from harness.decide import Rules

QUICK = Rules(min_pairs=1, max_pairs=1, cap_s=2.0)
"""One pair tells 1× from 2× as well as three: what a cheat gains is not a matter of layout."""
TIGHT = Limits(load_s=10.0, call_s=3.0, patience=1.5, memory_bytes=512 << 20)
"""As strict in kind as the real limits, and no wait of ten seconds for what hangs."""
HANGING = replace(TIGHT, load_s=3.0, call_s=1.0)
"""For those that must be ended for their time: they never end, whether they are waited for briefly or long."""
PATIENCE_S = 15.0
"""How long a tree is waited for that an exploit has stopped: not half a minute."""

EXPLOITS = ROOT / "tests" / "exploits"
HANDED_IN = EXPLOITS / "handed_in"
NAIVE = EXPLOITS / "naive.py"
"""A grader, and no exploit: what they are tried on for comparison."""
HONEST = ROOT / "tests" / "honest"
_PROMISE = re.compile(r"(?P<lesson>[^\s.]+)(\.(?P<task>\w+))? earns (?P<points>\d+), (?P<status>[a-z ]+): (?P<says>.+)")
_DECLARED = re.compile(
    r"^(?P<name>Source|Naive|Stopped by)(?P<options>( --?[a-z]+| [a-z]+)*): (?P<text>.+)$", re.MULTILINE
)


@dataclass(frozen=True)
class Promised:
    """A file and what it must earn."""

    path: Path
    lesson: str
    points: float
    statuses: tuple[str, ...]
    says: str
    named: str | None = None
    tries: str = ""
    source: str = ""
    flaw: str = ""
    options: tuple[str, ...] = ()
    layer: str = ""

    @property
    def row(self) -> int:
        """The class of the attack: its number in the list of attacks."""
        return int(self.path.name.partition("_")[0])

    @property
    def task(self) -> Task:
        """The task that is meant: the one named, or the first of its lesson."""
        tasks = catalogue.load().tasks(self.lesson)
        return next(task for task in tasks if self.named in {None, task.name})

    def broken_by(self, points: float, status: str, told: str) -> str | None:
        """How a verdict differs from what was promised; None when it does not."""
        if points == self.points and status in self.statuses and any(one in told for one in self.says.split(" | ")):
            return None
        return f"{self.path.stem}: {points:g} points, {status}: {told}"

    def broken_by_outcome(self, outcome: Outcome) -> str | None:
        """The same for a verdict as a class's journal keeps it."""
        told = f"{outcome.rationale}\n{outcome.help}"
        return self.broken_by(outcome.points, outcome.status.lower().replace("_", " "), told)

    def submission(self, student: str = "mallory") -> Submission:
        """The file as a hand-in."""
        source = self.path.read_text(encoding="utf-8")
        return Submission(student, self.lesson, self.path.name, digest(source.encode()), source)

    def broken(self, pool: Pool) -> str | None:
        """Grade an exploit within tight limits, or honest work within its own: how the verdict breaks the promise."""
        limits = HANGING if self.statuses[0] == "timed out" else TIGHT
        task = replace(self.task, limits=limits) if self.path.parent == EXPLOITS else self.task
        verdict = self.graded(pool, task)
        told = f"{verdict.attempt.rationale}\n{verdict.attempt.help}"
        return self.broken_by(verdict.points, verdict.status.value, told)

    def graded(self, pool: Pool, task: Task | None = None, hand_in: Submission | None = None) -> Verdict:
        """Grade the file alone, on its task or one that differs in limits, or as a `hand_in` of other bytes."""
        return grade_task(task or self.task, hand_in or self.submission(), Settings("exploits", pool))


@contextmanager
def quickly() -> Iterator[None]:
    """Decide by one pair of processes, and wait less for a tree that was stopped."""
    with mock.patch.object(speed, "RULES", QUICK), mock.patch.object(forkserver, "_ANSWER_S", PATIENCE_S):
        yield


def promised(path: Path) -> Promised:
    """Read a file's promise, and what else its docstring declares."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    told = _PROMISE.fullmatch(docstring.splitlines()[-1] if docstring else "")
    assert told, f"{path.name} does not say what it must earn"
    declared = {one["name"]: one for one in _DECLARED.finditer(docstring)}
    tries = " ".join(docstring.partition("\n\n")[0].split()).partition(". ")[2]
    naive = declared.get("Naive")
    return Promised(
        path,
        told["lesson"],
        float(told["points"]),
        tuple(told["status"].split(" or ")),
        told["says"],
        told["task"],
        tries,
        declared["Source"]["text"] if "Source" in declared else "",
        naive["text"] if naive else "",
        tuple(naive["options"].split()) if naive else (),
        declared["Stopped by"]["text"] if "Stopped by" in declared else "",
    )


def all_promised(folder: Path) -> list[Promised]:
    """All files of a folder, in order of name."""
    return [promised(path) for path in sorted(folder.glob("*.py")) if path != NAIVE]


def hand_in(folder: Path, maker: Promised) -> set[str]:
    """Let a file of `exploits/handed_in` make its hand-in in the class `folder`: its students, as a run names them."""
    spec = importlib.util.spec_from_file_location(f"handed_in_{maker.path.stem}", maker.path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    before = {path.name for path in folder.iterdir()}
    right = (CLASS / "ada" / "04_autorange.py").read_text(encoding="utf-8")
    module.hand_in(folder / maker.path.stem, right)
    made = {path.name for path in folder.iterdir()} - before
    students = {name.removesuffix(".zip") for name in made if not name.startswith(".")}
    return {os.fsencode(name).decode("utf-8", "backslashreplace") for name in students}
