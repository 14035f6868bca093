"""Records of a GPU's memory: read from a file, and from the events of a snapshot."""

import json
from pathlib import Path

import pytest
import torch

from harness.errors import MachineError
from harness.memory import cuda_record

TRACE = [
    {"action": "segment_alloc", "size": 100, "addr": 1},
    {"action": "alloc", "size": 60, "addr": 1},
    {"action": "free_requested", "size": 60, "addr": 1},
    {"action": "free_completed", "size": 60, "addr": 1},
    {"action": "alloc", "size": 30, "addr": 1},
    {"action": "snapshot", "size": 0, "addr": 0},
    {"action": "segment_free", "size": 100, "addr": 1},
]


def test_a_record_has_the_memory_of_tensors_and_of_segments_and_a_missing_one_is_none(tmp_path: Path) -> None:
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
    with pytest.raises(MachineError, match="torch finds no GPU"):
        cuda_record.record()
    assert cuda_record.write(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_record_is_written_into_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_record, "record", lambda: {"made by": "a GPU", "changes": [["alloc", 60]]})
    folder = tmp_path / "recorded" / "17"
    assert cuda_record.write(folder) == [folder / cuda_record.NAME]
    assert cuda_record.read(folder) == cuda_record.CudaMemory("a GPU", (("alloc", 60),))
