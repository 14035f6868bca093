from itertools import islice

import numpy as np
import torch
from playing import find_task

from grader.seeds import generator, independent
from grader.task import TensorExam
from grader.trials.correctness import right

TASK = find_task("07_fuzzing", "larger_squared")
assert isinstance(TASK.exam, TensorExam)
EXAM = TASK.exam


def test_cases_have_every_kind_of_memory() -> None:
    cases = EXAM.cases(generator("a seed"))
    arrays = [array for case in cases for array in case]
    assert any(array.size == 0 for array in arrays)
    assert any(0 in array.strides and array.size for array in arrays)
    assert any(array.ndim == 3 and not array.flags.c_contiguous for array in arrays)
    assert any(not array.flags.c_contiguous and not array.flags.f_contiguous for array in arrays)
    assert any(x is y for x, y in cases)
    assert {str(array.dtype) for array in arrays} == {"float32", "float64", "int64"}


def test_the_oracle_is_what_the_plain_formula_gives() -> None:
    for x, y in EXAM.cases(generator("another")):
        one, other = torch.tensor(np.ascontiguousarray(x)), torch.tensor(np.ascontiguousarray(y))
        plain = torch.where(one > other, one * one - other, other * other - one).reshape(x.shape).numpy()
        assert right(EXAM.oracle(x, y), plain, EXAM.allowed(x, y)).all()


def test_the_timed_operands_always_lie_differently_and_as_they_did_before() -> None:
    turned = set()
    for seed in map(str, range(12)):
        inputs = list(islice(EXAM.timed(independent(generator(seed))), 4))
        strides = {tuple(array.strides for array in pair) for pair in inputs}
        assert len(strides) == 1
        assert not np.array_equal(inputs[0][0], inputs[1][0])
        first, second = inputs[0]
        assert first.flags.c_contiguous != second.flags.c_contiguous
        turned.add(first.flags.c_contiguous)
    assert turned == {True, False}
