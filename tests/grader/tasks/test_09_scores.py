"""Task (b) of lesson 09: the drawn inputs, and the oracle, which must agree with the pipeline of the exercise."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from playing import find_task

from grader import overlays, paths
from grader.seeds import generator, independent
from grader.task import TensorExam
from grader.trials.correctness import right

TASK = find_task("09_cprofile", "scores")
SOLUTION = paths.solution("09_cprofile")
RIGHT = [SOLUTION, *sorted(TASK.known.glob("[bt]*.py"))]


def agrees(source: Path, function: str = "scores") -> bool:
    assert isinstance(TASK.exam, TensorExam)
    names: dict[str, object] = {}
    exec(overlays.whole(source), names)  # noqa: S102 - the kit's file
    called = names[function]
    assert callable(called)
    for inputs in TASK.exam.cases(generator("a seed")):
        answer = called(*(torch.from_numpy(array.copy()) for array in inputs)).numpy()
        if not right(TASK.exam.oracle(*inputs), answer, TASK.exam.allowed(*inputs)).all():
            return False
    return True


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_the_oracle_is_what_right_answers_give(path: Path) -> None:
    assert agrees(path)


@pytest.mark.filterwarnings("ignore:std")
@pytest.mark.parametrize("path", TASK.wrong_answers, ids=lambda path: path.stem)
def test_a_wrong_one_is_told_apart(path: Path) -> None:
    assert not agrees(path)


def test_the_stub_holds_the_plain_pipeline_and_it_is_right() -> None:
    assert agrees(paths.stub("09_cprofile"), "plain")


def test_cases_hold_outliers_no_rows_and_what_lies_oddly() -> None:
    assert isinstance(TASK.exam, TensorExam)
    arrays = [array for case in TASK.exam.cases(generator("s")) for array in case]
    assert any(array.shape[0] == 0 for array in arrays)
    assert any(not array.flags.c_contiguous for array in arrays)
    assert any(array.size and np.abs(array).max() > 30 for array in arrays)
    assert {str(array.dtype) for array in arrays} == {"float32", "float64"}


def test_what_is_timed_is_new_each_time_and_of_one_shape() -> None:
    assert isinstance(TASK.exam, TensorExam)
    (first,), (second,) = islice(TASK.exam.timed(independent(generator("a seed"))), 2)
    assert first.shape == second.shape == (48, 1024)
    assert not np.array_equal(first, second)
