"""The recorder of TensorBoard's pages. One test needs TensorBoard and Chromium, and records real pages."""

import gzip
import json
from pathlib import Path

import pytest
from PIL import Image
from torch import ones
from torch.profiler import ProfilerActivity, profile, tensorboard_trace_handler

from harness.errors import MachineError
from harness.profiles import VIEWS, BoardPages, tensorboard, tensorboard_recorder
from harness.profiles.tensorboard_recorder import TRACE, keep_trace, record_pages

RUNS = dict.fromkeys(VIEWS, "run")


def write(folder: Path) -> None:
    handler = tensorboard_trace_handler(str(folder), "rank0")
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, on_trace_ready=handler):
        ones(64, 64) @ ones(64, 64)


def test_without_tensorboard_the_command_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensorboard_recorder, "installed", lambda _package: "")
    with pytest.raises(MachineError, match=r"fairclock\[tensorboard\]"):
        record_pages(tmp_path, {"run": write}, RUNS)
    assert not list(tmp_path.iterdir())


def test_the_kept_trace_does_not_name_the_path_of_its_file(tmp_path: Path) -> None:
    data = json.dumps({"traceEvents": [{"name": "aten::mm"}], "traceName": "/home/a/rank0.json"}).encode()
    for name, content in {"rank0.json": data, "rank0.json.gz": gzip.compress(data)}.items():
        (traces := tmp_path / name[5:]).mkdir()
        (traces / name).write_bytes(content)
        kept = keep_trace(traces, tmp_path)
        assert kept == tmp_path / TRACE
        assert json.loads(gzip.decompress(kept.read_bytes())) == {"traceEvents": [{"name": "aten::mm"}]}


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.equipment(
    "TensorBoard and its plugin", tensorboard.installed("tensorboard") and tensorboard.installed("torch-tb-profiler")
)
def test_real_pages_are_recorded_with_their_numbers_and_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensorboard_recorder, "_trace_library", lambda _folder: b"")
    monkeypatch.setattr(tensorboard_recorder, "lacking", lambda *_arguments: "")
    monkeypatch.setattr(tensorboard_recorder, "_TRACE_S", 0.0)
    (tmp_path / "old.png").write_bytes(b"from an earlier record")
    files = record_pages(tmp_path, {"run": write}, RUNS)
    assert sorted(files) == sorted(tmp_path.iterdir())
    found = BoardPages.load(tmp_path)
    assert found.board == tensorboard.installed("tensorboard")
    views = {each.name: each for each in found.views}
    assert tuple(views) == VIEWS
    assert [name for name, each in views.items() if each.picture] == ["Overview", "Operator", "Trace", "Memory"]
    assert "aten::mm" in [row[0] for row in views["Operator"].rows]
    for each in found.views:
        if each.picture:
            with Image.open(tmp_path / each.picture) as picture:
                assert picture.width == tensorboard_recorder.WIDTH
