"""The cost of a turn, and the check of its answers."""

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from grader.errors import WorkerFault
from grader.task import Array, Inputs, TensorExam
from grader.trials.correctness import Answer
from grader.trials.tensor_supply import Drawn
from grader.trials.turns import SLOW_CALL_S, Side, TimedAnswer, TimedInput
from harness.paired.rounds import Reading


class Played(Side):
    """A side without a process. Each of its calls costs as many seconds as its input is high."""

    made: int = 0

    def _play(self, drawn: Sequence[TimedInput]) -> list[Reading]:
        self.made += len(drawn)
        costs_s = [float(one.inputs[0]) for one in drawn if isinstance(one, Drawn)]
        return [Reading(cost_s, cost_s) for cost_s in costs_s]


def costing(*costs_s: float) -> list[Drawn]:
    exam = drawn(1.0)[0].exam
    return [Drawn(exam, (np.array(cost_s),), np.zeros(()), watched=False) for cost_s in costs_s]


def test_a_turn_without_a_warm_up_call_counts_its_first_call() -> None:
    side = Played(None, "f", lambda _: contextlib.nullcontext(), calls=3)  # type: ignore[arg-type]
    assert side.turn(costing(9.0, 8.0, 1.0, 1.0)) == Reading(3.0, 3.0, 3)
    assert side.turn(costing(9.0, 8.0, 1.0, 1.0), warm_up=False) == Reading(24.0, 24.0, 3)


SHORT_S, LONG_S = 0.9 * SLOW_CALL_S, SLOW_CALL_S


def drawn(right: float) -> tuple[Drawn, list[Array]]:
    """Return an input whose right answer has only elements `right`, and the list of inputs of the oracle's calls."""
    asked: list[Array] = []

    def oracle(x: Array) -> NDArray[np.float64]:
        asked.append(x)
        return np.full(x.shape, right)

    def timed(_: Iterator[np.random.Generator]) -> Iterator[Inputs]:
        raise NotImplementedError

    exam = TensorExam(("x",), lambda _: [], timed, oracle, lambda x: np.zeros(x.shape))
    inputs = (np.zeros((2, 3), np.float32),)
    return Drawn(exam, inputs, np.zeros((2, 3)), watched=True), asked


def answer(value: float, dtype: str = "float32", shape: tuple[int, ...] = (2, 3), *, unchanged: bool = True) -> Answer:
    return Answer(np.full(shape, value, dtype), "Tensor", inputs_unchanged=unchanged)


def timed_answer(value: float) -> TimedAnswer:
    return TimedAnswer(np.full((2, 3), value, np.float32).tobytes())


def test_only_an_answer_with_other_bytes_than_the_baselines_is_judged_by_the_oracle() -> None:
    for value in (1.0, np.nan, np.inf):
        one, asked = drawn(5.0)
        side = Side(None, "f", lambda _: contextlib.nullcontext(), answers=[timed_answer(value)])  # type: ignore[arg-type]
        side.check([one], {0: timed_answer(value)})
        assert asked == []
    wrong = answer(2.0), answer(1.0, unchanged=False), answer(1.0, "float64"), answer(1.0, shape=(3, 2))
    for other in (*wrong, Answer(None, "list", inputs_unchanged=True)):
        one, asked = drawn(1.0)
        with pytest.raises(WorkerFault):
            one.check(other, answer(1.0))
        assert len(asked) == 1
    with pytest.raises(WorkerFault):
        one.check(answer(1.0, "float64"), answer(1.0, "float64"))
