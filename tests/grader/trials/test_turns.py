"""The cost of a turn, and the check of its answers."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from grader.errors import WorkerFault
from grader.seeds import generator
from grader.task import Array, Inputs, TensorExam
from grader.trials.correctness import Answer
from grader.trials.speed import TimedPair
from grader.trials.tensor_supply import Drawn, TensorSupply
from grader.trials.turns import MOST_CALLS, SLOW_CALL_S, TURN_S, OutOfTurn, Side, TimedAnswer, TimedInput
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


def test_only_a_function_with_long_calls_makes_few_first_calls() -> None:
    for seconds, made, calls in (
        ((1.0, SHORT_S, SHORT_S, TURN_S / 2), 4, 2),
        ((1.0, SHORT_S, SHORT_S, SHORT_S), 4, 1),
        ((SHORT_S, 1.0, TURN_S / 100, 1.0), 4, MOST_CALLS),
        ((1.0, LONG_S, TURN_S / 2, TURN_S / 2), 2, 1),
    ):
        inputs = costing(*seconds)
        worker = SimpleNamespace(load=lambda _: None, arrange=lambda *_, **__: None)
        side = Played(worker, "f", lambda _: contextlib.nullcontext())  # type: ignore[arg-type]
        side.start("", inputs[0], inputs, None)
        assert (side.made, side.calls) == (made, calls)


class Answering(Side):
    """A side without a process. It answers 1 in each call, and 0 in the calls of a turn whose numbers are `wrong`."""

    wrong: tuple[int, ...] = ()
    made: int = 0

    def _play(self, drawn: Sequence[TimedInput]) -> list[Reading]:
        self.made += len(drawn)
        self.answers = [timed_answer(0.0 if place in self.wrong else 1.0) for place in range(len(drawn))]
        return [Reading(1.0, 1.0)] * len(drawn)

    def check_no_helpers(self) -> None:
        """There is no process that could have helpers."""


def played(wrong: tuple[int, ...]) -> Answering:
    """Play a round of three measured calls against one of the baseline. Return the baseline's side."""
    exam = replace(drawn(1.0)[0].exam, timed=lambda rngs: ((np.zeros((2, 3), np.float32),) for _ in rngs))
    baseline, candidate = (
        Answering(None, "f", lambda _: contextlib.nullcontext(), calls)  # type: ignore[arg-type]
        for calls in (1, 3)
    )
    candidate.wrong = wrong
    pair = TimedPair(0, TensorSupply(exam, generator("a secret")), baseline, candidate, OutOfTurn(lambda: 0.0))
    pair.play(baseline_first=True)
    return baseline


def test_wrong_answers_in_most_calls_are_found_in_every_round() -> None:
    assert played(()).made == 2 + 1, "the baseline answers its own inputs and one more"
    for wrong in ((0,), (1,), (2, 3)):
        with pytest.raises(WorkerFault, match="wrong in a timed call"):
            played(wrong)


def test_the_further_input_that_the_baseline_answers_changes() -> None:
    endless = replace(drawn(1.0)[0].exam, timed=lambda rngs: ((np.zeros(1),) for _ in rngs))
    supply = TensorSupply(endless, generator("secret"))
    assert {place for _ in range(50) for place in supply.choose(range(2, 4))} == {2, 3}
    assert supply.choose(range(2, 2)) == []


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
