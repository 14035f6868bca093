"""The drawn inputs, oracles and stubs of tasks with tensors. `test_truth_tables.py` tries the known submissions."""

from itertools import islice

import numpy as np
from playing import agrees_with_its_oracle, find_task

from grader import catalogue, paths
from grader.seeds import generator, independent
from grader.task import Inputs, Task, TensorExam
from grader.trials.inputs import pack, root

PLAIN = {"scores", "without_echo"}
"""Tasks whose cases are empty, strided, and of two dtypes."""
NOT_FINITE = {"batched_dot", "larger_squared", "nearest", "tone_curve", "polynomial"}
"""The same, and some numbers are NaN."""


def exam(task: Task) -> TensorExam:
    assert isinstance(task.exam, TensorExam)
    return task.exam


def cases(task: Task) -> list[Inputs]:
    return list(exam(task).cases(generator("a seed")))


def test_cases_are_empty_strided_not_finite_and_of_each_dtype() -> None:
    for task in catalogue.all_tasks():
        if task.name in PLAIN | NOT_FINITE:
            arrays = [array for case in cases(task) for array in case]
            assert any(array.size == 0 for array in arrays), task.full_name
            assert any(not array.flags.c_contiguous for array in arrays), task.full_name
            assert task.name in PLAIN or any(np.isnan(array).any() for array in arrays), task.full_name
            assert {"float32", "float64"} <= {str(array.dtype) for array in arrays}, task.full_name


def test_operands_of_larger_squared_have_every_kind_of_memory() -> None:
    task = find_task("07_fuzzing", "larger_squared")
    arrays = [array for case in cases(task) for array in case]
    assert any(0 in array.strides and array.size for array in arrays)
    assert any(array.ndim == 3 and not array.flags.c_contiguous for array in arrays)
    assert any(x is y for x, y in cases(task))
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


def test_oracles_of_whole_numbers_are_exact() -> None:
    data = np.frombuffer(b"123456789", np.uint8)
    published = exam(find_task("14_extensions", "checksum")).oracle(data)
    assert bytes(published.astype(np.uint8)) == 0xCBF43926.to_bytes(4, "little")
    convolve = exam(find_task("05_compare", "convolve"))
    timed = [next(draw(independent(generator("a seed")))) for draw in (convolve.timed, *convolve.also_timed)]
    for signal, weights in [*convolve.cases(generator("a seed")), *timed]:
        assert np.array_equal(convolve.oracle(signal, weights), np.convolve(signal, weights))
        assert not convolve.allowed(signal, weights).any()


def test_the_plain_functions_in_the_stubs_are_right() -> None:
    for lesson, name, plain in (
        ("05_compare", "convolve", "by_shifting"),
        ("05_compare", "convolve", "by_fft"),
        ("09_cprofile", "scores", "plain"),
        ("11_torch_profiler", "without_echo", "plain"),
    ):
        stub = paths.stub(lesson).read_text(encoding="utf-8")
        assert agrees_with_its_oracle(find_task(lesson, name), f"{stub}\n{name} = {plain}\n"), (name, plain)
