"""Recordings of memray, and the memory of tensors on the CPU and on a GPU, from torch's own records."""

import json
import math
from pathlib import Path

import pytest
import torch

from harness.errors import UsageError
from harness.memory import cuda_record
from harness.memory.allocations import lacking_memray, live_stages, of_function, record_allocations
from harness.memory.tensors import TensorMemory, changes_in, tensor_memory

needs_memray = pytest.mark.skipif(bool(lacking_memray()), reason=lacking_memray())
MUCH = 20_000_000
kept: list[bytearray] = []


def short_peak() -> None:
    bytearray(MUCH)
    bytearray(MUCH // 2)


def keep() -> None:
    kept.append(bytearray(MUCH))


@needs_memray
def test_a_short_peak_is_recorded_with_its_function() -> None:
    found = record_allocations(short_peak)
    assert MUCH <= of_function(found.at_peak, "short_peak") < 1.01 * MUCH
    assert MUCH <= found.peak_bytes < 1.1 * MUCH
    assert 1.5 * MUCH <= found.all_bytes < 1.6 * MUCH
    assert of_function(found.temporary, "short_peak") >= 1.5 * MUCH
    assert of_function(found.kept, "short_peak") == 0
    assert found.allocations >= 2


@needs_memray
def test_memory_that_is_still_used_after_the_call_is_kept_and_an_exception_ends_the_recording() -> None:
    with pytest.raises(ZeroDivisionError):
        record_allocations(lambda: 1 // 0)
    found = record_allocations(keep)
    kept.clear()
    assert of_function(found.kept, "keep") >= MUCH
    assert found.kept[0].stack[0].startswith("keep:")
    assert record_allocations(lambda: bytearray(MUCH)).kept[0].n_bytes >= MUCH  # the result of the call


@needs_memray
def test_each_block_of_pythons_allocator_and_functions_of_c_are_recorded_on_request() -> None:
    few, many = (
        record_allocations(lambda: [f"{n} x" for n in range(5000)], python_allocator=on) for on in (False, True)
    )
    assert few.allocations < 500
    assert many.allocations >= 5000
    block = record_allocations(lambda: torch.ones(MUCH), native=True).at_peak[0]
    assert block.stack[0].startswith("c10::")
    assert sum("::" in frame for frame in block.stack) >= 3


SCRIPT = """
def load():
    return bytearray(20_000_000)

data = load()
pause("loaded")
del data
pause("freed")
"""


@needs_memray
def test_each_stage_has_the_memory_that_is_in_use_then() -> None:
    loaded, freed = live_stages(SCRIPT, ["load", "other"])
    assert (loaded.name, freed.name) == ("loaded", "freed")
    assert 20_000_000 <= loaded.n_bytes["load"] < 20_100_000
    assert freed.n_bytes == {"load": 0, "other": 0}


@needs_memray
def test_a_script_that_fails_or_takes_too_long_is_an_error() -> None:
    with pytest.raises(UsageError, match="script failed"):
        live_stages("pause('begun')\n1 / 0\n", [])
    with pytest.raises(UsageError, match=r"ended before|longer than 3 s"):
        live_stages("import time\ntime.sleep(300)\n", [], timeout_s=3)


TENSOR = 4 * 1_000_000


def comes_and_goes() -> None:
    (torch.ones(1_000_000) + 1).sum()


def test_the_peak_contains_tensors_that_are_freed_again() -> None:
    found = tensor_memory(comes_and_goes)
    assert 2 * TENSOR <= found.peak_bytes < 2.1 * TENSOR
    assert found.kept_bytes == 0
    nothing = tensor_memory(lambda: None)
    assert math.isnan(nothing.peak_bytes)
    assert math.isnan(nothing.kept_bytes)


def test_changes_are_added_up_in_order_of_time() -> None:
    def event(at: float, n_bytes: int, device: int = 0) -> dict[str, object]:
        return {"name": "[memory]", "ts": at, "args": {"Bytes": n_bytes, "Device Type": device}}

    events = [event(3, -8), event(1, 8), event(2, 4), event(2.5, 99, device=1), {"name": "aten::add", "ts": 0}]
    assert changes_in(events) == (8, 4, -8)
    assert TensorMemory((8, 4, -8)).curve == (8, 12, 4)
    assert TensorMemory((8, 4, -8)).peak_bytes == 12


def test_a_record_of_a_gpu_has_the_memory_of_tensors_and_of_segments_and_a_missing_one_is_none(tmp_path: Path) -> None:
    assert cuda_record.read(tmp_path) is None
    actions = ["segment_alloc", "alloc", "free_requested", "free_completed", "alloc", "snapshot", "segment_free"]
    sizes = zip(actions, (100, 60, 60, 60, 30, 0, 100), strict=True)
    changes = cuda_record.changes_in([{"action": action, "size": size, "addr": 1} for action, size in sizes])
    file = tmp_path / cuda_record.NAME
    file.write_text(json.dumps({"made by": "a GPU", "changes": changes}), encoding="utf-8")
    found = cuda_record.read(tmp_path)
    assert found is not None
    assert found.made_by == "a GPU"
    assert found.tensor_bytes == (0, 60, 0, 30, 30)
    assert found.segment_bytes == (100, 100, 100, 100, 0)
    assert (found.count("alloc"), found.count("segment_alloc")) == (2, 1)
