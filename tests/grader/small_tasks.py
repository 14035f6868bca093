"""Small tasks that take little time to grade, each with its own folder for known submissions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from grader import paths
from grader.authoring import mistakes
from grader.kinds.simulated import CALLS
from grader.kinds.timing import TIME
from grader.limits import Limits
from grader.records import Submission
from grader.task import Inputs, Mismatch, Scenario, SimulatedExam, SimulatedFunction, Task, TensorExam, Tier
from grader.tasks.plain import PlainScenario
from grader.trials import known_mistakes
from grader.values import Value

TIERS = (Tier(2, 0.6), Tier(4, 1.0))
QUICK = Limits(load_s=20, call_s=5, memory_bytes=1 << 30)

BY_ROWS = """
import torch

def negate(x):
    out = torch.empty_like(x)
    for i in range(len(x)):
        out[i] = -x[i]
    return out
"""
"""The source of a baseline that processes 64 rows one at a time."""

AT_ONCE = """
def negate(x):
    return -x
"""

COUNT_UP = """
def find(probe):
    at = 0
    while not probe(at):
        at += 1
    return at
"""

BISECT = """
def find(probe):
    low, high = 0, 100
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if probe(middle) else (middle + 1, high)
    return low
"""


def hand_in(source: str, student: str = "ada") -> Submission:
    return Submission(student, "00_small", "ada/00_small.py", sha256(source.encode()).hexdigest(), source)


def negation(folder: Path, *, baseline: str = BY_ROWS, tiers: tuple[Tier, ...] = TIERS, limits: Limits = QUICK) -> Task:
    """Return a task whose function `negate(x)` returns the negative of a float32 tensor.

    Pass `Path()` as folder if the test runs no code of the task.
    """
    exam = TensorExam(("x",), _cases, _timed, lambda x: -x.astype(np.float64), lambda x: np.zeros(x.shape))
    return _task(folder, "negate", exam, baseline, tiers, limits)


def record_mistakes(task: Task, monkeypatch: pytest.MonkeyPatch, *sources: str) -> None:
    """Add known wrong submissions to a task, and record their answers in a file of the task's own."""
    for number, source in enumerate(sources):
        (task.known / f"wrong_{number}.py").write_text(source, encoding="utf-8")
    monkeypatch.setattr(paths, "solution", lambda _: task.known / "baseline.py")
    monkeypatch.setattr(known_mistakes, "FILE", task.folder / "mistakes.json")
    known_mistakes.FILE.write_bytes(known_mistakes.as_bytes({task.full_name: mistakes.recorded(task)}))


def search(folder: Path, *, max_calls: int = 1000, limits: Limits = QUICK) -> Task:
    """Return a task whose function `find(probe)` returns the first integer for which `probe` is true.

    Its cost is the number of calls of `probe`.
    """
    return _task(folder, "find", SimulatedExam(_hidden_numbers, max_calls), COUNT_UP, TIERS, limits)


@dataclass
class HiddenNumber:
    """A scenario with a hidden number from 60 to 99. `probe(n)` returns whether the number is at most `n`."""

    number: int
    calls: int = 0
    seen: list[Sequence[Value]] = field(default_factory=list)
    function: str = "find"
    title: str = "a number is hidden"

    @property
    def arguments(self) -> tuple[SimulatedFunction, ...]:
        return (SimulatedFunction("probe"),)

    @property
    def cost(self) -> float:
        return max(1, self.calls)

    @property
    def plain_cost(self) -> float:
        """The cost of counting up from 0."""
        return self.number + 1

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        self.seen.append(arguments)
        if name != "probe" or len(arguments) != 1 or not isinstance(arguments[0], int):
            raise ValueError("probe(number) takes one whole number.")
        self.calls += 1
        return arguments[0] >= self.number

    def judge(self, answer: Value) -> Mismatch | None:
        return None if answer == self.number else Mismatch(str(self.number), repr(answer)[:60])


@dataclass
class Question(PlainScenario):
    """A scenario with these arguments and this right answer. A call of a simulated function returns `told`."""

    function: str
    arguments: tuple[Value | SimulatedFunction, ...]
    answer: Value
    told: Value = None
    title: str = "a question"
    plain_cost: float = 1.0

    def call(self, name: str, _: Sequence[Value]) -> Value:
        del name
        return self.told

    def judge(self, answer: Value) -> Mismatch | None:
        return None if answer == self.answer else Mismatch(str(self.answer), str(answer))


def _hidden_numbers(rng: np.random.Generator) -> Sequence[Scenario]:
    """Return three scenarios: two neighbours, an even and an odd number, and another number."""
    one, other = (int(rng.integers(60, 99)) for _ in range(2))
    return [HiddenNumber(number) for number in (one, one + 1, other)]


def _cases(rng: np.random.Generator) -> list[Inputs]:
    wide = rng.standard_normal((4, 6)).astype(np.float32)
    special = np.array([[0.0, -0.0, np.inf], [np.nan, 1.0, -np.inf]], dtype=np.float32)
    return [(wide,), (wide[:, ::2],), (np.empty((0, 3), np.float32),), (special,)]


def _timed(rngs: Iterator[np.random.Generator]) -> Iterator[Inputs]:
    for rng in rngs:
        yield (rng.standard_normal((64, 64)).astype(np.float32),)


def _task(
    folder: Path, name: str, exam: TensorExam | SimulatedExam, baseline: str, tiers: tuple[Tier, ...], limits: Limits
) -> Task:
    if folder != Path():
        known = folder / "known" / name
        known.mkdir(parents=True)
        (known / "baseline.py").write_text(baseline, encoding="utf-8")
    hints = ("Look.", "Look closer.", "Look at this line.")
    cost = CALLS if exam.simulated else TIME
    return Task("", cost, tiers, hints, exam, "", lesson="00_small", name=name, folder=folder, limits=limits)
