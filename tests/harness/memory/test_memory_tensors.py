"""The memory of torch's tensors, from torch's own record."""

import math

import pytest
import torch

from harness.memory.tensors import TensorMemory, changes_in, tensor_memory

MUCH = 4 * 1_000_000
kept: list[torch.Tensor] = []


def comes_and_goes() -> None:
    (torch.ones(1_000_000) + 1).sum()


def test_the_peak_contains_tensors_that_are_freed_again() -> None:
    found = tensor_memory(comes_and_goes)
    assert 2 * MUCH <= found.peak_bytes < 2.1 * MUCH
    assert found.kept_bytes == 0


def test_a_tensor_that_stays_is_kept_and_its_end_is_a_negative_change() -> None:
    assert tensor_memory(lambda: kept.append(torch.ones(1_000_000))).kept_bytes == MUCH
    assert tensor_memory(kept.clear).kept_bytes == -MUCH


def test_a_call_without_tensors_has_no_peak_and_an_exception_is_not_caught() -> None:
    found = tensor_memory(lambda: None)
    assert found.changes == ()
    assert math.isnan(found.peak_bytes)
    assert math.isnan(found.kept_bytes)
    with pytest.raises(ZeroDivisionError):
        tensor_memory(lambda: 1 // 0)


def test_changes_are_added_up_in_order_of_time() -> None:
    def event(at: float, n_bytes: int, device: int = 0) -> dict[str, object]:
        return {"name": "[memory]", "ts": at, "args": {"Bytes": n_bytes, "Device Type": device}}

    events = [event(3, -8), event(1, 8), event(2, 4), event(2.5, 99, device=1), {"name": "aten::add", "ts": 0}]
    assert changes_in(events) == (8, 4, -8)
    assert TensorMemory((8, 4, -8)).curve == (8, 12, 4)
    assert TensorMemory((8, 4, -8)).peak_bytes == 12
