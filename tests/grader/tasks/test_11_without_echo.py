"""Task (c) of lesson 11: the drawn inputs, the allowed errors, and the shapes that a profile of the exercise shows."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from playing import find_task
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from grader import overlays, paths
from grader.seeds import generator, independent
from grader.task import Inputs, TensorExam
from grader.trials.correctness import right

TASK = find_task("11_torch_profiler", "without_echo")
SOLUTION = paths.solution("11_torch_profiler")
RIGHT = [SOLUTION, *sorted(TASK.known.glob("[bt]*.py"))]
LARGE = [640, 640]


def exam() -> TensorExam:
    assert isinstance(TASK.exam, TensorExam)
    return TASK.exam


def function_of(path: Path, name: str = "without_echo") -> Callable[..., torch.Tensor]:
    names: dict[str, Callable[..., torch.Tensor]] = {}
    exec(overlays.whole(path), names)  # noqa: S102 - the kit's file
    return names[name]


def as_tensors(inputs: Inputs) -> list[torch.Tensor]:
    return [torch.from_numpy(array.copy()) for array in inputs]


def large_products(path: Path, name: str = "without_echo") -> int:
    """Return how many products of two large matrices a profile of one call contains."""
    function, given = function_of(path, name), as_tensors(next(exam().timed(independent(generator("a seed")))))
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as found:
        function(*given)
    rows = found.key_averages(group_by_input_shape=True)
    return sum(row.count for row in rows if row.key == "aten::mm" and row.input_shapes == [LARGE, LARGE])


def test_rounding_needs_less_than_a_third_of_the_allowed_error() -> None:
    inputs = next(exam().timed(independent(generator("a seed"))))
    oracle, allowed = exam().oracle(*inputs), exam().allowed(*inputs)
    for path in RIGHT:
        assert right(oracle, function_of(path)(*as_tensors(inputs)).numpy(), allowed / 3).all(), path.stem


def test_products_in_bfloat16_are_wrong_in_the_timed_size_too() -> None:
    """A submission could choose the precision by the size."""
    inputs = next(exam().timed(independent(generator("a seed"))))
    answer = function_of(TASK.known / "wrong_bfloat16.py")(*as_tensors(inputs)).numpy()
    allowed = np.full_like(answer, 2 * exam().allowed(*inputs).max(), dtype=np.float64)  # as timed calls are checked
    assert not right(exam().oracle(*inputs), answer, allowed).all()


def test_a_profile_by_shapes_shows_the_expensive_products() -> None:
    assert large_products(paths.stub("11_torch_profiler"), "plain") == 2
    assert large_products(SOLUTION) == 0
    sizes = [array.shape for array in next(exam().timed(independent(generator("a seed"))))]
    assert f"sizes = {', '.join(map(str, sizes))}\n" in paths.stub("11_torch_profiler").read_text(encoding="utf-8")


def test_the_solution_makes_no_more_operations_than_any_right_function_must() -> None:
    inputs = next(exam().timed(independent(generator("a seed"))))
    counted: list[int] = []
    for path in (SOLUTION, TASK.known / "baseline.py"):
        function = function_of(path)
        with FlopCounterMode(display=False) as counter:
            function(*as_tensors(inputs))
        counted.append(counter.get_total_flops())
    operations = exam().operations
    assert operations is not None
    assert operations(*inputs) == counted[0] < counted[1]
