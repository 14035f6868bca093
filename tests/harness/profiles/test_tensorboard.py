"""TensorBoard on a folder of traces. One test needs the optional packages, and starts the server."""

from pathlib import Path

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, tensorboard_trace_handler

from harness.errors import MachineError
from harness.profiles import look_at, tensorboard


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tensorboard.installed("pytest") == pytest.__version__
    assert tensorboard.installed("no-such-package-in-fairclock") == ""
    packages: dict[str, str] = {}
    monkeypatch.setattr(tensorboard, "installed", lambda package: packages.get(package, ""))
    for missing in ("TensorBoard", "TensorBoard's plugin torch-tb-profiler"):
        assert look_at(tmp_path).reason.startswith(f"needs {missing}. Run: python -m pip install")
        packages["tensorboard"] = "2.21.0"


def test_a_server_that_ends_at_once_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensorboard, "installed", lambda _package: "1.0")
    monkeypatch.setattr(tensorboard, "_CHILD", "print('no address')")
    assert look_at(tmp_path).reason == "needs a TensorBoard that starts on this machine"
    with pytest.raises(MachineError, match="To see the reason, run"), tensorboard.serving(tmp_path):
        pass
    assert look_at(tmp_path, start=False).reason == "a short run does not start TensorBoard"


@pytest.mark.long
@pytest.mark.equipment(
    "TensorBoard and its plugin", tensorboard.installed("tensorboard") and tensorboard.installed("torch-tb-profiler")
)
def test_tensorboard_shows_the_worker_of_each_trace(tmp_path: Path) -> None:
    for worker in ("rank0", "rank1"):
        write = tensorboard_trace_handler(str(tmp_path), worker, use_gzip=True)
        with profile(activities=[ProfilerActivity.CPU], on_trace_ready=write):
            torch.ones(8, 8) @ torch.ones(8, 8)
    found = look_at(tmp_path)
    assert found.reason == ""
    assert found.page_bytes > 1000
    assert sorted(found.workers) == ["rank0", "rank1"]
    assert {"Overview", "Operator", "Trace"} <= set(found.views)
