"""Compilers: their graphs, guards, recompilations, messages and times."""

import logging
import math
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from harness.compilers import capture, inductor, new_processes
from harness.rendering.wrapping import waiting
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


def test_a_wait_is_shown_only_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for terminal in (False, True):
        if terminal:
            monkeypatch.setenv("FORCE_COLOR", "1")
            monkeypatch.setenv("TTY_COMPATIBLE", "1")
        with waiting("compiling gelu"):
            pass
        shown = capsys.readouterr()
        assert (shown.out, "compiling gelu" in shown.err) == ("", terminal)


def test_a_program_is_started_twice_with_the_same_caches_and_then_read_from_the_cache(kept: Path) -> None:
    starts, program = new_processes.starts, "def call(): pass"
    assert "without --fast" in starts(program, measuring=False).reason
    found = starts(program)
    assert found.reason == ""
    assert found.empty is not None
    assert found.filled is not None
    assert min(found.empty.import_s, found.empty.first_s, found.filled.again_s) >= 0
    (file,) = (kept / "starts").iterdir()
    assert starts(program, measuring=False) == found
    file.write_text("{", encoding="utf-8")
    assert "without --fast" in starts(program, measuring=False).reason
    assert "no such thing" in starts("def call(): raise ValueError('no such thing')").reason
    assert "before its second call" in starts("import os\ndef call(): os._exit(0)").reason
    assert list((kept / "starts").iterdir()) == [file]


def test_compiling_pays_off_after_the_time_for_compiling_is_saved() -> None:
    calls = {(10.0, 3.0, 1.0): 5, (10.1, 3.0, 1.0): 6, (0.0, 3.0, 1.0): 1, (1.0, 1.0, 1.0): math.inf}
    assert {times: new_processes.calls_to_break_even(*times) for times in calls} == calls


UNSUPPORTED = "`torch.jit.script` is not supported in Python 3.14+ and may break."


def scripting(said: str, error: Exception | None = None) -> object:
    """Return a fake `torch.jit` that scripts anything, and warns or raises."""

    def script(module: object) -> object:
        warnings.warn(said, FutureWarning, stacklevel=2)
        if error:
            raise error
        return module

    return SimpleNamespace(script=script)


def test_torchscript_is_supported_unsupported_broken_or_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    here = inductor.torchscript_support()
    assert (here.runs, bool(here.reason)) == (True, sys.version_info >= (3, 14))
    for jit, runs, reason in [
        (scripting("`torch.jit.script` is deprecated."), True, ""),
        (scripting(UNSUPPORTED), True, "does not support TorchScript on Python 3"),
        (scripting("deprecated", AttributeError("no attribute '__annotations__'")), False, "__annotations__"),
        (object(), False, "no longer has TorchScript"),
    ]:
        monkeypatch.setattr(torch, "jit", jit)
        found = inductor.torchscript_support.__wrapped__()
        assert (found.runs, bool(found.reason)) == (runs, bool(reason))
        assert reason in found.reason


def scaled(x: torch.Tensor, n: int) -> torch.Tensor:
    return x * n


@pytest.mark.long
@pytest.mark.skipif(bool(inductor.unsupported()), reason=inductor.unsupported())
def test_recompilations_are_recorded_and_loggers_restored(capfd: pytest.CaptureFixture[str]) -> None:
    torch.compiler.reset()
    with inductor.torchscript_warnings_hidden():
        compiled: Callable[..., torch.Tensor] = torch.compile(scaled, backend="eager", dynamic=False)
    logger, state = logging.getLogger("torch._dynamo.guards.__recompiles"), torch._logging._internal.log_state
    before = (logger.level, logger.propagate, list(logger.handlers), "recompiles" in state.artifact_names)
    x = torch.ones(8)
    with capture.watch_recompilations() as watched:
        for tensor, n in [(x, 1), (x + 1, 1), (torch.ones(9), 1), (torch.ones(9), 2)]:
            compiled(tensor, n)
        found = [(each.function, max(each.reasons.items())[1].split(".")[0]) for each in watched.recompilations]
        for size in range(10, 20):
            compiled(torch.ones(size), 1)
    assert found == [("scaled", "tensor 'x' size mismatch at index 0"), ("scaled", "n == 1")]
    assert watched.limits[0].endswith(f"({torch._dynamo.config.recompile_limit})")
    assert capfd.readouterr() == ("", "")
    assert before == (logger.level, logger.propagate, logger.handlers, "recompiles" in state.artifact_names)
