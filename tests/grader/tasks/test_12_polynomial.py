"""Task (a) of lesson 12: the drawn inputs, and the oracle, which must agree with the simple formula."""

import ast
from itertools import islice

import numpy as np
import torch
from playing import agrees_with_its_oracle, find_task

from grader import overlays, paths
from grader.seeds import generator, independent
from grader.task import TensorExam

TASK = find_task("12_jit_fusion", "polynomial")
SOLUTION = paths.solution("12_jit_fusion").read_text(encoding="utf-8")


def exam() -> TensorExam:
    assert isinstance(TASK.exam, TensorExam)
    return TASK.exam


def test_the_oracle_is_what_the_plain_baseline_and_the_solution_give() -> None:
    assert agrees_with_its_oracle(TASK, TASK.baseline)
    assert agrees_with_its_oracle(TASK, SOLUTION)


def test_every_file_has_the_same_coefficients_as_the_oracle() -> None:
    texts = [SOLUTION, *(overlays.whole(path) for path in TASK.known.glob("*.py"))]
    written = [ast.literal_eval(text.partition("\nCOEFFICIENTS = ")[2].partition("\n")[0]) for text in texts]
    assert len(set(written)) == 1
    (answer,) = exam().oracle(np.array([2.0]))
    assert answer == sum(each * 2**power for power, each in enumerate(written[0]))


def test_cases_are_empty_strided_and_not_numbers_in_both_dtypes() -> None:
    arrays = [x for (x,) in exam().cases(generator("a seed"))]
    assert {str(x.dtype) for x in arrays} == {"float32", "float64"}
    assert any(x.size == 0 for x in arrays)
    assert any(not x.flags.c_contiguous for x in arrays)
    assert any(np.isnan(x).any() for x in arrays)


def test_what_is_timed_is_new_each_time_and_of_one_size() -> None:
    (first,), (second,) = islice(exam().timed(independent(generator("a seed"))), 2)
    assert first.shape == second.shape
    assert not np.array_equal(first, second)
    assert torch.from_numpy(first).is_contiguous()


def test_each_number_needs_an_addition_and_a_product_for_each_coefficient_but_the_last() -> None:
    operations = exam().operations
    assert operations is not None
    assert operations(np.zeros((3, 5))) == 2 * 11 * 15
