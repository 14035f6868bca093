"""The physical limit of a task: the shortest possible time, and times that are shorter."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from small_tasks import hand_in, negation
from trees import BARE

from grader import kinds
from grader.grade import grade_task
from grader.kinds.timing import TIME
from grader.limits import HandInTime, Limits
from grader.records import Control, Status
from grader.task import Array, Inputs, Task, TensorExam
from grader.trials import control, physical_limit, speed
from grader.trials.tensor_supply import TensorSupply
from harness.paired.decide import Estimate, Rules
from harness.paired.rounds import Outcome, Reading

QUICK = Rules(error_rate=0.2, layout_sd=0.01, min_pairs=1, max_pairs=1, min_rounds=9, slice_s=0.02, cap_s=0.2)
LIMITS = Limits(load_s=60, call_s=5, memory_bytes=1 << 30)

SIDE = 768

THREE_TIMES = """
def negate(x):
    for _ in range(3):
        answer = -(x @ x)
    return answer
"""
ONCE = """
def negate(x):
    return -(x @ x)
"""
FROM_MEMORY = """
known = {}

def negate(x):
    if len(x) < 8:
        return -(x @ x)
    if len(x) not in known:
        known[len(x)] = -(x @ x)
    return known[len(x)]
"""


def cases(rng: np.random.Generator) -> list[Inputs]:
    return [(rng.integers(-9, 9, (3, 3)).astype(np.float32),)]


def timed(rngs: Iterator[np.random.Generator]) -> Iterator[Inputs]:
    for rng in rngs:
        yield (rng.integers(-9, 9, (SIDE, SIDE)).astype(np.float32),)


def oracle(x: Array) -> NDArray[np.float64]:
    answer: NDArray[np.float64] = -(x.astype(np.float64) @ x.astype(np.float64))
    return answer


def operations(x: Array) -> float:
    return 2.0 * len(x) ** 3


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """Return a task whose function computes a large product of matrices of whole numbers.

    A core needs milliseconds for the product. On a busy machine, a call that computes nothing takes a tenth of this.
    """
    exam = TensorExam(("x",), cases, timed, oracle, np.zeros_like, operations=operations)
    return replace(negation(tmp_path, baseline=THREE_TIMES, limits=LIMITS), exam=exam)


@pytest.fixture
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "RULES", QUICK)
    monkeypatch.setattr(speed, "TRIES", 2)
    monkeypatch.setattr(control, "judge", lambda *_: Control(1.0, 1.05, 0.05, holds=True))


@pytest.fixture
def _same_input_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every timed call the same input, as a broken grader might do. Then answers can come from memory."""
    monkeypatch.setattr(TensorSupply, "draw", lambda self, count: [self.first] * count)


needs_clock = pytest.mark.skipif(sys.platform != "linux", reason="needs the CPU clock of another process")


@pytest.mark.long
@needs_clock
@pytest.mark.usefixtures("_short")
def test_an_honest_time_is_a_share_of_the_limit(task: Task) -> None:
    verdict = grade_task(task, hand_in(ONCE), BARE)
    assert verdict.status in {Status.PASSED, Status.UNDECIDED}, verdict.attempt
    held, measured = verdict.attempt.control, verdict.attempt.speed
    assert held is not None
    assert measured is not None
    assert held.most_ratio is not None
    assert 0 < measured.ratio < physical_limit.MARGIN * held.most_ratio
    assert "of this core's physical limit." in verdict.attempt.rationale


@pytest.mark.slow
@needs_clock
@pytest.mark.usefixtures("_short", "_same_input_each_time")
def test_an_answer_from_memory_takes_an_impossible_time(task: Task) -> None:
    verdict = grade_task(task, hand_in(FROM_MEMORY), BARE)
    assert verdict.status is Status.IMPOSSIBLE
    assert verdict.points == task.points * task.correct_share
    assert "The measured time is impossible" in verdict.attempt.rationale
    assert verdict.attempt.speed is not None
    assert verdict.attempt.speed.tier == 0


READ = 8_000_000
PEAKS = {"read_bytes_per_s": 1e9, "operations_per_s": 4e9}


def test_the_longer_of_reading_and_computing_is_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The core reads 1 GB and computes 4 billion operations per second."""
    monkeypatch.setattr(physical_limit, "_measuring", lambda *_: nullcontext(lambda name, *_: PEAKS[name]))
    inputs, nothing = (np.zeros(READ, np.uint8),), cast("Any", None)
    for count, limit_s in ((None, 0.009), (0.0, 0.009), (35e6, 0.009), (40e6, 0.010)):
        counted = None if count is None else lambda _, count=count: count
        exam = TensorExam(("x",), cases, timed, oracle, np.zeros_like, operations=counted)
        assert physical_limit.seconds(exam, inputs, READ // 8, nothing, None) == pytest.approx(limit_s)


def test_memory_that_inputs_share_is_read_once() -> None:
    x, y = np.zeros((10, 4), np.float32), np.zeros(3, np.float64)
    assert physical_limit.least_bytes((x, y), 100) == 160 + 24 + 100
    assert physical_limit.least_bytes((x, x.T), 0) == 160
    assert physical_limit.least_bytes((x[:, 0], x[:, 1]), 0) == 40
    assert physical_limit.least_bytes((np.broadcast_to(y, (50, 3)),), 0) == 24


def test_the_call_of_the_median_pair_counts() -> None:
    turns = [[Reading(1.8, 90.0, 3)] * 3, [Reading(0.001, 90.0)], [Reading(0.6, 9.0)]]
    assert physical_limit.call_s(turns) == pytest.approx(0.6)
    assert physical_limit.call_s(turns, by_wall=True) == pytest.approx(30.0)


def test_one_possible_time_outweighs_impossible_ones(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = Outcome((), Estimate(9.0, 8.0, 10.0, rounds=9, pairs=3), (2.0, 4.0), 2, hidden_work=False)
    pool = SimpleNamespace(trusted=lambda **_: nullcontext())
    session: Any = SimpleNamespace(pool=pool, lane=lambda _: nullcontext())
    tree: Any = SimpleNamespace(tensors=True, time=HandInTime())
    ended = list[str]()

    def run(*_: object) -> tuple[Outcome, Control]:
        end = ended.pop(0)
        if end == "void":
            raise speed.VoidDuelError("other programs ran")
        return outcome, Control(1.0, 1.05, 0.05, holds=True, impossible=end == "impossible")

    monkeypatch.setattr(speed.Contestants, "run", run)
    for tries, status, voided in (
        ("impossible, possible", Status.PASSED, 0),
        ("void, impossible, possible", Status.PASSED, 1),
        ("impossible, impossible, impossible, impossible", Status.IMPOSSIBLE, 0),
        ("void, void, impossible, void", Status.IMPOSSIBLE, 3),
    ):
        ended += tries.split(", ")
        attempt = TIME.measure(kinds.examiner(task, "a", "seed"), tree, "", session)
        assert attempt.status is status
        assert attempt.control is not None
        assert attempt.speed is not None
        assert (attempt.control.voided, attempt.speed.tier) == (voided, 2 if status is Status.PASSED else 0)
        assert ended == []
