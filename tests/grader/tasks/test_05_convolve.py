"""The oracle and the two functions in the stub agree with NumPy's convolution of whole numbers."""

import importlib
from collections.abc import Callable

import numpy as np
import pytest
import torch
from playing import find_task

from grader import paths
from grader.seeds import independent
from grader.task import Inputs, TensorExam

TASK = find_task("05_compare", "convolve")
EXAM = TASK.exam
assert isinstance(EXAM, TensorExam)


def drawn() -> list[Inputs]:
    assert isinstance(EXAM, TensorExam)
    rng = np.random.default_rng(3)
    return [*EXAM.cases(rng), *(next(timed(independent(rng))) for timed in (EXAM.timed, *EXAM.also_timed))]


def test_the_oracle_is_exact_on_every_case_and_at_every_timed_size() -> None:
    assert isinstance(EXAM, TensorExam)
    for inputs in drawn():
        signal, weights = inputs
        want = np.convolve(signal, weights)
        assert np.array_equal(EXAM.oracle(*inputs), want)
        assert not EXAM.allowed(*inputs).any()
        assert EXAM.allowed(*inputs).shape == want.shape


@pytest.mark.parametrize("name", ["by_shifting", "by_fft"])
def test_both_ways_in_the_exercise_are_right_as_they_are(name: str) -> None:
    names: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {}
    exec(compile(paths.stub("05_compare").read_text(encoding="utf-8"), "stub", "exec"), names)  # noqa: S102
    for signal, weights in drawn():
        answer = names[name](*(torch.from_numpy(np.ascontiguousarray(each)) for each in (signal, weights)))
        assert np.array_equal(answer.numpy(), np.convolve(signal, weights))


def test_timed_inputs_are_fresh_each_time_and_have_the_announced_lengths() -> None:
    assert isinstance(EXAM, TensorExam)
    lengths = []
    for timed in (EXAM.timed, *EXAM.also_timed):
        inputs = timed(independent(np.random.default_rng(5)))
        (signal, weights), (other, _) = next(inputs), next(inputs)
        assert not np.array_equal(signal, other)
        lengths.append((len(signal), len(weights)))
    module = importlib.import_module("grader.tasks.lesson_05_compare.convolve")
    assert lengths == [(module.SIGNAL, weights) for weights in module.TIMED_WEIGHTS]
    stub = paths.stub("05_compare").read_text(encoding="utf-8")
    assert f"n = {module.SIGNAL} and three lengths m from {lengths[0][1]} to {lengths[-1][1]}" in stub
