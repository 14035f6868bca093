"""`tryout` calls a function of a notebook on one case of its task."""

import pytest
import torch

from grader import catalogue
from grader.errors import UsageError
from grader.tryout import tryout


def test_a_tensor_function_is_called_on_a_small_case_and_compared(capsys: pytest.CaptureFixture[str]) -> None:
    def batched_dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a * b).mean(-1)

    tryout("01_correct_first", batched_dot)
    out = capsys.readouterr().out
    assert out.startswith("batched_dot: not right yet. Called with a, b of shape (1, ")
    assert "expected" in out


def test_a_measuring_function_is_played_in_a_scenario_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    def time_multiply(multiply: object, clock: object) -> float:
        assert callable(multiply)
        assert callable(clock)
        begin = clock()
        for _ in range(100):
            multiply()
        return float(clock() - begin) / 100

    tryout("02_timeit_vs_timer", time_multiply)
    assert capsys.readouterr().out.startswith("time_multiply: right. The scenario: ")


def test_an_exception_comes_out_as_it_is_and_other_functions_are_refused() -> None:
    def blocked_autorange(run: object, clock: object, min_run_time: float) -> None:
        raise NotImplementedError("Write it.")

    with pytest.raises(NotImplementedError, match="Write it"):
        tryout("04_autorange", blocked_autorange)
    with pytest.raises(UsageError, match=r"has a function print\. There are: blocked_autorange"):
        tryout("04_autorange", print)
    repair = catalogue.load().tasks("02_timeit_vs_timer")[1]
    assert repair.functions == ("time_sum", "time_multiply", "time_matmul", "time_sort", "time_hash")
