"""Read what each file under `tests/exploits` and `tests/honest` must earn, from the last line of its docstring.

The files in `exploits/handed_in` have one such docstring for each function `attack_…`.

The line is `<lesson> earns <points>, <status>: <part of the report>`. A race may end in one status `or` another, and
the report may contain one text | or another. The line is about the first task of the lesson, unless it names a task:
`<lesson>.<task>`.

Some cheats need a free core. On a busy machine such a cheat gains nothing, and the grader notices nothing.
With `<lesson> earns 0 or 4, …`, the file may also pass with 4 points, the points of its honest work.

Lines before it may say more about an exploit. `Source:` names the public collection or paper that lists it. `Naive:`
names the flaw of `exploits/naive.py` that it uses (after options of `naive.py`, as in `Naive --clock user:`). `Stopped
by:` names the layer of this grader that stops it.

One trick may have several variants, each of which must keep the file's promise. The file then contains the line
`VARIANT = "one"  # or "another", "a third"`, and is graded once with each of these names.
"""

import ast
import inspect
import os
import re
import runpy
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

from commanding import CLASS, ROOT, Outcome

from grader import catalogue, limits
from grader.grade import grade_task
from grader.hand_ins.refusal import digest
from grader.isolation import forkserver
from grader.isolation.pool import Pool
from grader.kinds.peak_memory import PEAK_MEMORY
from grader.limits import Limits
from grader.records import Status, Submission, Verdict
from grader.session import Session
from grader.task import SimulatedExam, Task
from grader.trials import speed
from harness.paired.decide import Rules

QUICK = Rules(min_pairs=1, max_pairs=1, min_rounds=15, cap_s=2.0)
"""One pair is enough to distinguish 1× from 2×, because a cheat's gain does not depend on memory layout. One pair needs
15 rounds for an interval."""
SMALL = Limits(memory_bytes=512 << 20)
"""The real limits, but with less memory, which an exploit uses up sooner."""
HANGING = replace(SMALL, load_s=2.0, call_s=1.0, wall_factor=1.5)
"""Limits for exploits that may never end, so that a longer wait would show nothing more."""
HANGING_CALLS = 20_000
"""The calls of simulated functions that such an exploit may make for one answer. The real exams allow more."""
PATIENT = 6
"""How often a hand-in is graded if the machine is too noisy, which takes half a minute each time."""
PATIENCE_S = 3.0
"""The seconds to wait for a tree that an exploit has stopped. The real grader waits for 30 s."""
HANGING_S = 8.0
"""The time limit for the whole hand-in of an exploit that hangs. Others get the real limit."""

EXPLOITS = ROOT / "tests" / "exploits"
HANDED_IN = EXPLOITS / "handed_in"
NAIVE = EXPLOITS / "naive.py"
"""The naive grader, which is not an exploit. The exploits are tried on it for comparison."""
HONEST = ROOT / "tests" / "honest"
_PROMISE = re.compile(
    r"(?P<lesson>[^\s.]+)(\.(?P<task>\w+))? earns (?P<points>\d+)( or (?P<honest>\d+))?, "
    r"(?P<status>[a-z ]+): (?P<says>.+)"
)
_DECLARED = re.compile(
    r"^(?P<name>Source|Naive|Stopped by)(?P<options>( --?[a-z]+| [a-z]+)*): (?P<text>.+)$", re.MULTILINE
)
_VARIANTS = re.compile(r'^VARIANT = "\w+".*$', re.MULTILINE)


@dataclass(frozen=True)
class Promised:
    """A file, and what it must earn. `variant` is the name of one variant of the file's trick, or empty."""

    path: Path
    lesson: str
    points: float
    statuses: tuple[str, ...]
    says: str
    named: str | None = None
    honest: float | None = None
    tries: str = ""
    source: str = ""
    flaw: str = ""
    options: tuple[str, ...] = ()
    layer: str = ""
    name: str = ""
    variant: str = ""

    @property
    def title(self) -> str:
        """The name of the file, followed by the variant."""
        return "-".join(filter(None, (self.name, self.variant)))

    def variants(self) -> list["Promised"]:
        """Return the promise once for each variant of the file, the first variant as `self`."""
        found = _VARIANTS.search(self.path.read_text(encoding="utf-8"))
        others = re.findall(r'"(\w+)"', found[0])[1:] if found else []
        return [self, *(replace(self, variant=one) for one in others)]

    @property
    def attack_class(self) -> int:
        """The number of the class of attacks: the first number in the name."""
        return int(self.name.partition("_")[0])

    @property
    def task(self) -> Task:
        """The task of the promise: the named one, or the first task of its lesson."""
        tasks = catalogue.load().tasks(self.lesson)
        return next(task for task in tasks if self.named in {None, task.name})

    def broken_by(self, points: float, status: str, told: str) -> str | None:
        """Return how a verdict differs from the promise; None if it does not."""
        if points == self.points and status in self.statuses and any(one in told for one in self.says.split(" | ")):
            return None
        if self.honest is not None and (points, status) == (self.honest, "passed"):
            return None
        return f"{self.title}: {points:g} points, {status}: {told}"

    def broken_by_outcome(self, outcome: Outcome) -> str | None:
        """Return how a verdict from a class's journal differs from the promise; None if it does not."""
        told = f"{outcome.rationale}\n{outcome.help}"
        return self.broken_by(outcome.points, outcome.status.lower().replace("_", " "), told)

    def submission(self, student: str = "mallory") -> Submission:
        """Return the file as a hand-in."""
        source = self.path.read_text(encoding="utf-8")
        if self.variant:
            source = _VARIANTS.sub(f'VARIANT = "{self.variant}"', source)
        return Submission(student, self.lesson, self.path.name, digest(source.encode()), source)

    def broken(self, pool: Pool) -> str | None:
        """Return how the file's verdict differs from its promise; None if it does not.

        Exploits are graded with less memory, and with less time if they may hang.
        """
        if self.path.parent != EXPLOITS:
            verdict = self.graded(pool)
        elif "timed out" not in self.statuses:
            small = self.task if self.task.cost == PEAK_MEMORY else replace(self.task, limits=SMALL)
            verdict = self.graded(pool, small)
        else:
            with mock.patch.object(limits, "HAND_IN_S", HANGING_S):
                verdict = self.graded(pool, hanging(self.task))
        told = f"{verdict.attempt.rationale}\n{verdict.attempt.help}"
        return self.broken_by(verdict.points, verdict.status.value, told)

    def graded(self, pool: Pool, task: Task | None = None, hand_in: Submission | None = None) -> Verdict:
        """Return the verdict on the file, for its task or one with other limits, or on a `hand_in` with other bytes."""
        return graded_despite_noise(task or self.task, hand_in or self.submission(), pool)


def graded_despite_noise(task: Task, hand_in: Submission, pool: Pool) -> Verdict:
    """Return the verdict on a hand-in, graded again if other programs, such as other tests, disturbed it."""
    for _ in range(PATIENT):
        verdict = grade_task(task, hand_in, Session("exploits", pool))
        if verdict.status is not Status.TOO_NOISY:
            break
    return verdict


def hanging(task: Task) -> Task:
    """Return the task with limits for exploits that may never end."""
    exam = task.exam
    if isinstance(exam, SimulatedExam):
        exam = replace(exam, max_calls=min(exam.max_calls, HANGING_CALLS))
    return replace(task, limits=HANGING, exam=exam)


@contextmanager
def quickly() -> Iterator[None]:
    """Decide duels by one pair of processes, with a shorter limit for a tree that an exploit has stopped."""
    with mock.patch.object(speed, "RULES", QUICK), mock.patch.object(forkserver, "_ANSWER_S", PATIENCE_S):
        yield


def promised(path: Path) -> Promised:
    """Return a file's promise and the other declarations in its docstring."""
    return _promise(path, path.stem, ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")


def _promise(path: Path, name: str, docstring: str) -> Promised:
    told = _PROMISE.fullmatch(docstring.splitlines()[-1] if docstring else "")
    assert told, f"{name} has no line with its expected verdict"
    declared = {one["name"]: one for one in _DECLARED.finditer(docstring)}
    tries = " ".join(docstring.partition("\n\n")[0].split())
    naive = declared.get("Naive")
    return Promised(
        path,
        told["lesson"],
        float(told["points"]),
        tuple(told["status"].split(" or ")),
        told["says"],
        told["task"],
        float(told["honest"]) if told["honest"] else None,
        tries,
        declared["Source"]["text"] if "Source" in declared else "",
        naive["text"] if naive else "",
        tuple(naive["options"].split()) if naive else (),
        declared["Stopped by"]["text"] if "Stopped by" in declared else "",
        name,
    )


def all_promised(folder: Path) -> list[Promised]:
    """Return the promises of all files in a folder, in order of name."""
    return [promised(path) for path in sorted(folder.glob("*.py")) if path != NAIVE]


def promised_attacks() -> dict[Promised, Callable[[Path, str], None]]:
    """Return the promise of each function `attack_…` in the files of `exploits/handed_in`."""
    found = {}
    for path in sorted(HANDED_IN.glob("*.py")):
        for name, attack in runpy.run_path(str(path)).items():
            if name.startswith("attack_"):
                found[_promise(path, name.removeprefix("attack_"), inspect.getdoc(attack) or "")] = attack
    return found


def hand_in(folder: Path, name: str, attack: Callable[[Path, str], None]) -> set[str]:
    """Let an attack write its hand-ins to the class `folder`. Return the students' names as reports show them."""
    before = {path.name for path in folder.iterdir()}
    attack(folder / name, (CLASS / "ada" / "04_autorange.py").read_text(encoding="utf-8"))
    made = {path.name for path in folder.iterdir()} - before
    students = {entry.removesuffix(".zip") for entry in made if not entry.startswith(".")}
    return {os.fsencode(student).decode("utf-8", "backslashreplace") for student in students}


@contextmanager
def listening() -> Iterator[list[bytes]]:
    """Listen where `33_sends_secrets_out.py` sends: loopback, and a socket with an abstract name of Linux.

    The list with the data that each caller sent is complete after the `with` block. The port is below those that Linux
    gives to other connections.
    """
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 17110)) as loopback, socket.socket(socket.AF_UNIX) as unnamed:
        unnamed.bind("\0fairclock-exploit-33")
        unnamed.listen()
        yield heard
        while ready := select.select([loopback, unnamed], [], [], 0.05)[0]:
            heard.extend(_all_of(one.accept()[0]) for one in ready)


def _all_of(caller: socket.socket) -> bytes:
    with caller, suppress(OSError):
        caller.settimeout(5)
        return caller.makefile("rb").read()
    return b""
