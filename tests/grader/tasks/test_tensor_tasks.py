"""Drawn inputs, oracles, allowed errors and stubs of tasks with tensors. `test_truth_tables.py` tries known answers."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from playing import find_task, is_right
from torch.utils.flop_counter import FlopCounterMode

from grader import catalogue, overlays, paths
from grader.seeds import generator, independent
from grader.task import Drawing, Inputs, Task, TensorExam
from grader.trials.correctness import right
from grader.trials.inputs import pack, root

FINITE = {"scores", "without_echo"}
"""Tasks whose cases are empty, strided, and of two dtypes."""
NOT_FINITE = {"batched_dot", "larger_squared", "nearest", "tone_curve", "polynomial"}
"""The same, and some numbers are NaN."""

ECHO = find_task("11_torch_profiler", "without_echo")
ECHO_SOLUTION = paths.solution("11_torch_profiler")
ECHO_STUB = paths.stub("11_torch_profiler")


def exam(task: Task) -> TensorExam:
    assert isinstance(task.exam, TensorExam)
    return task.exam


def cases(task: Task) -> list[Inputs]:
    return list(exam(task).cases(generator("a seed")))


def first(drawing: Drawing) -> Inputs:
    return next(drawing(independent(generator("a seed"))))


def test_cases_are_empty_strided_not_finite_and_of_each_dtype() -> None:
    for task in catalogue.all_tasks():
        if task.name in FINITE | NOT_FINITE:
            arrays = [array for case in cases(task) for array in case]
            assert any(array.size == 0 for array in arrays), task.full_name
            assert any(not array.flags.c_contiguous for array in arrays), task.full_name
            assert task.name in FINITE or any(np.isnan(array).any() for array in arrays), task.full_name
            assert {"float32", "float64"} <= {str(array.dtype) for array in arrays}, task.full_name


def test_operands_of_larger_squared_are_the_same_expanded_and_transposed() -> None:
    task = find_task("07_fuzzing", "larger_squared")
    assert any(x is y for x, y in cases(task))
    assert any(0 in array.strides and array.size for case in cases(task) for array in case)
    turned = set()
    for seed in map(str, range(12)):
        for x, y in islice(exam(task).timed(independent(generator(seed))), 2):
            assert x.flags.c_contiguous != y.flags.c_contiguous
            turned.add(x.flags.c_contiguous)
    assert turned == {True, False}


def test_bytes_for_a_checksum_begin_at_every_address_among_other_bytes() -> None:
    arrays = [x for (x,) in cases(find_task("14_extensions", "checksum"))]
    layouts = [pack((x,)).layouts[0] for x in arrays if x.size]
    assert {layout["offset"] % 8 for layout in layouts} == set(range(8))
    assert any(root(x).size > x.size + layout["offset"] for x, layout in zip(arrays[2:], layouts, strict=True))
    assert any((x > 127).any() for x in arrays)


def test_the_oracle_of_a_checksum_returns_the_published_one() -> None:
    published = exam(find_task("14_extensions", "checksum")).oracle(np.frombuffer(b"123456789", np.uint8))
    assert bytes(published.astype(np.uint8)) == 0xCBF43926.to_bytes(4, "little")


def test_the_plain_functions_in_the_stubs_are_right() -> None:
    for lesson, name, plain in (
        ("05_compare", "convolve", "by_shifting"),
        ("05_compare", "convolve", "by_fft"),
        ("09_cprofile", "scores", "plain"),
        ("11_torch_profiler", "without_echo", "plain"),
    ):
        stub = paths.stub(lesson).read_text(encoding="utf-8")
        assert is_right(find_task(lesson, name), f"{stub}\n{name} = {plain}\n"), (name, plain)


def function_of(path: Path, name: str = "without_echo") -> Callable[..., torch.Tensor]:
    names: dict[str, Callable[..., torch.Tensor]] = {}
    exec(overlays.whole(path), names)  # noqa: S102 - the kit's file
    return names[name]


def as_tensors(inputs: Inputs) -> list[torch.Tensor]:
    return [torch.from_numpy(array.copy()) for array in inputs]


def test_rounding_without_echo_is_allowed_and_bfloat16_is_not() -> None:
    """A submission could choose the precision by the size, so these inputs have the timed size."""
    inputs = first(exam(ECHO).timed)
    oracle, allowed = exam(ECHO).oracle(*inputs), exam(ECHO).allowed(*inputs)
    for path in (ECHO_SOLUTION, *sorted(ECHO.known.glob("[bt]*.py"))):
        assert right(oracle, function_of(path)(*as_tensors(inputs)).numpy(), allowed / 3).all(), path.stem
    answer = function_of(ECHO.known / "wrong_bfloat16.py")(*as_tensors(inputs)).numpy()
    as_timed = np.full_like(answer, 2 * allowed.max(), dtype=np.float64)
    assert not right(oracle, answer, as_timed).all()


def test_the_solution_without_echo_makes_no_more_operations_than_any_right_function_must() -> None:
    inputs, operations = first(exam(ECHO).timed), exam(ECHO).operations
    with FlopCounterMode(display=False) as counter:
        function_of(ECHO_SOLUTION)(*as_tensors(inputs))
    assert operations is not None
    assert operations(*inputs) == counter.get_total_flops()
