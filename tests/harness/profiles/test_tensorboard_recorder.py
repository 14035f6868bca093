"""The recorder of TensorBoard's pages. One test needs TensorBoard and Chromium, and records real pages."""

import subprocess
from pathlib import Path

import pytest
from PIL import Image
from torch import ones
from torch.profiler import ProfilerActivity, profile, tensorboard_trace_handler

from harness.errors import MachineError
from harness.profiles import VIEWS, BoardPages, tensorboard, tensorboard_recorder
from harness.profiles.tensorboard_recorder import MARGIN, record_pages

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


@pytest.mark.parametrize("missing", ["chromium", "npm"])
def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setattr(tensorboard_recorder, "installed", lambda _package: "1.0")
    monkeypatch.setattr(
        tensorboard_recorder, "lacking", lambda what, _install, _command: what if what == missing else ""
    )
    with pytest.raises(MachineError, match=missing):
        record_pages(tmp_path, {"run": write}, RUNS)


def test_an_npm_without_a_network_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess[str]([], 1)
    monkeypatch.setattr(subprocess, "run", lambda *_arguments, **_options: failed)
    with pytest.raises(MachineError, match="npm could not fetch webcomponents"):
        tensorboard_recorder._trace_library(tmp_path)


def test_a_picture_is_stored_without_its_empty_end_and_with_few_colours(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    full = Image.linear_gradient("L").convert("RGB").resize((200, 100))
    page = Image.new("RGB", (200, 900), "white")
    page.paste(full, (0, 0))
    page.save(source / "page.png")
    with Image.open(tensorboard_recorder._compressed(source / "page.png", target)) as kept:
        assert kept.size == (200, 100 + MARGIN)
        colours = kept.convert("RGB").getcolors(maxcolors=2**24)
    assert colours is not None
    assert len(colours) <= tensorboard_recorder.COLOURS


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(
    not (tensorboard.installed("tensorboard") and tensorboard.installed("torch-tb-profiler")),
    reason="needs TensorBoard and its plugin",
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
