"""Compilers: the memory traffic of a graph, and the times of a program with empty and filled caches."""

import math
from pathlib import Path

import pytest
import torch

from harness.compilers import capture, new_processes
from harness.storage.disk_cache import FOLDER_VARIABLE


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    return folder


def plus_times(x: torch.Tensor) -> torch.Tensor:
    return (x + 1) * x


def test_traffic_is_each_operation_with_its_bytes() -> None:
    _, times = capture.traffic(plus_times, torch.ones(100))
    assert (times.name, times.moved_bytes) == ("aten.mul.Tensor", 1200)
    (total,) = capture.traffic(lambda x: x.sum(dtype=torch.float64), torch.ones(100))
    assert (total.read_bytes, total.written_bytes) == (400, 8)


def test_a_program_is_started_twice_with_the_same_caches_and_then_read_from_the_cache(kept: Path) -> None:
    starts, program = new_processes.starts, "def call(): pass"
    assert "without --fast" in starts(program, measuring=False).reason
    found = starts(program)
    assert found.empty is not None
    assert found.filled is not None
    assert min(found.empty.import_s, found.empty.first_s, found.filled.again_s) >= 0
    (file,) = (kept / "starts").iterdir()
    assert starts(program, measuring=False) == found
    assert "no such thing" in starts("def call(): raise ValueError('no such thing')").reason
    assert list((kept / "starts").iterdir()) == [file]


def test_compiling_pays_off_after_the_time_for_compiling_is_saved() -> None:
    calls = {(10.0, 3.0, 1.0): 5, (10.1, 3.0, 1.0): 6, (0.0, 3.0, 1.0): 1, (1.0, 1.0, 1.0): math.inf}
    assert {times: new_processes.calls_to_break_even(*times) for times in calls} == calls
