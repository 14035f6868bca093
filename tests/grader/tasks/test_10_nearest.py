"""Both tasks of lesson 10: the drawn inputs, and the oracles, which must agree with the simple formulas."""

from itertools import islice

import numpy as np
from playing import agrees_with_its_oracle, find_task

from grader import overlays, paths
from grader.records import Cost
from grader.seeds import generator, independent
from grader.task import Task, TensorExam

NEAREST = find_task("10_memory", "nearest")
CURVE = find_task("10_memory", "tone_curve")


def exam(task: Task) -> TensorExam:
    assert isinstance(task.exam, TensorExam)
    return task.exam


def test_the_oracles_are_what_the_plain_baselines_and_the_solutions_give() -> None:
    solution = paths.solution("10_memory").read_text(encoding="utf-8")
    for task in (NEAREST, CURVE):
        assert agrees_with_its_oracle(task, task.baseline)
        assert agrees_with_its_oracle(task, solution)


def test_rows_near_each_other_and_far_from_zero_are_among_the_cases() -> None:
    """A matrix product gives wrong distances for such rows, but passes most other cases."""
    wrong = overlays.whole(NEAREST.known / "wrong_expanded_square.py")
    assert not agrees_with_its_oracle(NEAREST, wrong)
    cases = exam(NEAREST).cases(generator("a seed"))
    assert any(np.abs(x[np.isfinite(x)]).min() > 100 for x, _, _ in cases if x.size)


def test_cases_have_no_rows_columns_apart_and_what_is_not_finite() -> None:
    arrays = [array for task in (NEAREST, CURVE) for case in exam(task).cases(generator("s")) for array in case]
    assert any(array.size == 0 for array in arrays)
    assert any(not array.flags.c_contiguous for array in arrays)
    assert any(np.isnan(array).any() for array in arrays)
    assert any(np.isinf(array).any() for array in arrays)
    assert {str(array.dtype) for array in arrays} == {"float32", "float64"}


def test_what_is_measured_is_new_each_time_and_of_one_shape() -> None:
    for task in (NEAREST, CURVE):
        first, second = islice(exam(task).timed(independent(generator("a seed"))), 2)
        assert [array.shape for array in first] == [array.shape for array in second]
        assert not np.array_equal(first[0], second[0])


def test_one_is_measured_by_its_memory_and_the_other_where_malloc_gives_it_back() -> None:
    assert NEAREST.cost is Cost.PEAK_MEMORY
    assert CURVE.cost is Cost.TIME
    assert CURVE.limits.returns_memory
