"""The memory of torch's tensors on a CPU and on a GPU, from torch's own records."""

import json
import math
from pathlib import Path

import pytest
import torch

from harness.memory import cuda_record
from harness.memory.tensors import TensorMemory, changes_in, tensor_memory

MUCH = 4 * 1_000_000
kept: list[torch.Tensor] = []


def comes_and_goes() -> None:
    (torch.ones(1_000_000) + 1).sum()


def test_the_peak_contains_tensors_that_are_freed_again() -> None:
    found = tensor_memory(comes_and_goes)
    assert 2 * MUCH <= found.peak_bytes < 2.1 * MUCH
    assert found.kept_bytes == 0


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


TRACE = [
    {"action": "segment_alloc", "size": 100, "addr": 1},
    {"action": "alloc", "size": 60, "addr": 1},
    {"action": "free_requested", "size": 60, "addr": 1},
    {"action": "free_completed", "size": 60, "addr": 1},
    {"action": "alloc", "size": 30, "addr": 1},
    {"action": "snapshot", "size": 0, "addr": 0},
    {"action": "segment_free", "size": 100, "addr": 1},
]


def test_a_record_of_a_gpu_has_the_memory_of_tensors_and_of_segments_and_a_missing_one_is_none(tmp_path: Path) -> None:
    assert cuda_record.read(tmp_path) is None
    file = tmp_path / cuda_record.NAME
    file.write_text(json.dumps({"made by": "a GPU", "changes": cuda_record.changes_in(TRACE)}), encoding="utf-8")
    found = cuda_record.read(tmp_path)
    assert found is not None
    assert found.made_by == "a GPU"
    assert found.tensor_bytes == (0, 60, 0, 30, 30)
    assert found.segment_bytes == (100, 100, 100, 100, 0)
    assert (found.count("alloc"), found.count("segment_alloc")) == (2, 1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="tests a machine without a GPU")
def test_without_a_gpu_nothing_is_recorded(tmp_path: Path) -> None:
    assert cuda_record.write(tmp_path) == []
    assert list(tmp_path.iterdir()) == []
