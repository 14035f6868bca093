import shutil
import sys
import warnings
from pathlib import Path

import pytest
import torch

from harness import programs
from harness.compilers import (
    build,
    cannot_compile,
    captured,
    deprecated,
    guards_of,
    kernel_of,
    lacking,
    prepare,
    refusal,
    starts,
    torchscript_support,
    traffic,
)
from harness.compilers import inductor as inductor_
from harness.disk_cache import FOLDER_VARIABLE
from harness.errors import MachineError

COUNTING = """
import pathlib
mark = pathlib.Path("started")
mark.write_text("again" if mark.exists() else "")
def call():
    pass
"""


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    return folder


needs_compiler = pytest.mark.skipif(bool(lacking()), reason="needs a C++ compiler")


def plus_times(x: torch.Tensor) -> torch.Tensor:
    return (x + 1) * x


def test_traffic_is_each_operation_with_its_bytes() -> None:
    plus, times = traffic(plus_times, torch.ones(100))
    assert (plus.name, plus.read_bytes, plus.written_bytes) == ("aten.add.Tensor", 400, 400)
    assert (times.name, times.moved_bytes) == ("aten.mul.Tensor", 1200)


def test_traffic_sees_nothing_where_nothing_is_run() -> None:
    assert traffic(lambda: None) == ()


def test_deprecation_is_hidden_within_and_nowhere_else() -> None:
    def warn() -> None:
        warnings.warn("`torch.jit.script` is deprecated.", DeprecationWarning, stacklevel=1)

    with deprecated():
        warn()
    with pytest.warns(DeprecationWarning, match="something else"), deprecated():
        warnings.warn("something else is deprecated", DeprecationWarning, stacklevel=1)
    with pytest.warns(DeprecationWarning, match="torch.jit.script"):
        warn()


def test_a_missing_compiler_is_named_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert programs.CPP_COMPILER in lacking()


@needs_compiler
def test_c_is_compiled_and_called_and_a_fault_in_it_is_told() -> None:
    assert build('extern "C" long long twice(long long n) { return 2 * n; }', "twice")(21) == 42
    with pytest.raises(MachineError, match="error"):
        build("this is no C", "twice")


def test_a_program_is_started_twice_with_the_same_caches_and_then_never_again(kept: Path) -> None:
    found = starts(COUNTING)
    assert found.reason == ""
    assert found.empty is not None
    assert found.filled is not None
    assert min(found.empty.import_s, found.empty.first_s, found.filled.again_s) >= 0
    assert len(list((kept / "starts").iterdir())) == 1
    assert starts(COUNTING, measuring=False) == found


def test_another_program_is_not_taken_for_it_and_a_short_run_starts_nothing() -> None:
    assert "without --fast" in starts("def call(): pass", measuring=False).reason


def test_a_program_that_fails_says_so_and_is_not_kept(kept: Path) -> None:
    found = starts("def call(): raise ValueError('no such thing')")
    assert "no such thing" in found.reason
    assert not (kept / "starts").exists()


def test_a_file_that_cannot_be_read_back_is_measured_anew(kept: Path) -> None:
    first = starts(COUNTING)
    (file,) = (kept / "starts").iterdir()
    file.write_text("{", encoding="utf-8")
    assert "without --fast" in starts(COUNTING, measuring=False).reason
    again = starts(COUNTING)
    assert again.reason == ""
    assert again != first


@pytest.mark.slow
def test_a_capture_tells_guards_and_why_a_graph_ends() -> None:
    def branching(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.sum() > 0 else x

    whole = captured(plus_times, torch.ones(4))
    assert (whole.graphs, whole.operations, whole.breaks) == (1, 2, ())
    broken = captured(branching, torch.ones(4))
    assert broken.graphs > 1
    assert broken.breaks


@pytest.mark.slow
def test_each_compiled_version_tells_what_it_asks_of_its_tensors() -> None:
    prepare()
    torch.compiler.reset()
    compiled = torch.compile(plus_times, backend=lambda graph, _: graph.forward)
    for x in (torch.ones(4), torch.ones(5), torch.ones(4, dtype=torch.float64)):
        compiled(x)
    first, second, third = guards_of(plus_times)
    assert first == "L['x']: torch.float32, size=[4]"
    assert second == "L['x']: torch.float32, size=[None]"
    assert "torch.float64" in third


@pytest.mark.slow
@needs_compiler
def test_torch_compile_writes_one_loop_and_keeps_it_in_the_kits_folder(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(inductor_.CACHE_VARIABLE, str(kept / "inductor"))
    monkeypatch.setenv(inductor_.THREADS_VARIABLE, "1")
    prepare()
    x = torch.rand(1000)
    compiled = torch.compile(plus_times)
    for _ in range(2):  # compiled, and then taken from the cache
        assert kernel_of(compiled, x).count('extern "C"') == 1
    assert torch.allclose(compiled(x), plus_times(x))
    assert any((kept / "inductor").rglob("*.so")) or shutil.which("g++") is None


class OldWarning:
    """Stands for `torch.jit`: scripts anything, and warns or raises."""

    def __init__(self, said: str, error: Exception | None = None) -> None:
        self._said, self._error = said, error

    def script(self, module: object) -> object:
        if self._said:
            warnings.warn(self._said, FutureWarning, stacklevel=2)
        if self._error:
            raise self._error
        return module


@pytest.mark.parametrize(
    ("jit", "runs", "reason"),
    [
        (OldWarning(""), True, ""),
        (OldWarning("`torch.jit.script` is deprecated."), True, ""),
        (
            OldWarning("`torch.jit.script` is not supported in Python 3.14+ and may break."),
            True,
            "does not support TorchScript on Python 3",
        ),
        (OldWarning("", AttributeError("no attribute '__annotations__'")), False, "__annotations__"),
        (object(), False, "has no TorchScript any more"),
    ],
)
def test_torchscript_is_supported_unsupported_broken_or_gone(
    monkeypatch: pytest.MonkeyPatch, jit: object, runs: bool, reason: str
) -> None:
    monkeypatch.setattr(torch, "jit", jit)
    found = torchscript_support.__wrapped__()
    assert found.runs == runs
    assert reason in found.reason
    assert bool(found.reason) == bool(reason)


def test_what_torch_here_says_of_torchscript_is_what_scripting_does_here() -> None:
    found = torchscript_support()
    with deprecated():
        if found.runs:
            assert torch.jit.script(torch.nn.ReLU())(torch.tensor(-1.0)) == 0
    assert found.runs
    assert bool(found.reason) == (sys.version_info >= (3, 14))


@pytest.mark.parametrize("category", [DeprecationWarning, FutureWarning, UserWarning])
def test_warnings_of_any_torch_about_torchscript_are_hidden(category: type[Warning]) -> None:
    with deprecated():
        warnings.warn("`torch.jit.script` is not supported in Python 3.14+ and may break.", category, stacklevel=1)


def test_a_python_that_torch_compile_refuses_is_told_in_torchs_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise RuntimeError("torch.compile is not supported on Python 3.99+")

    assert inductor_.unsupported() == ""
    monkeypatch.setattr(torch, "compile", refuse)
    monkeypatch.setattr(inductor_, "unsupported", inductor_.unsupported.__wrapped__)
    assert "not supported on Python 3.99+" in cannot_compile()


def test_what_torch_export_refuses_is_one_line_and_its_logs_stay_off(capfd: pytest.CaptureFixture[str]) -> None:
    class Branching(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2 if x.sum() > 0 else x

    said = refusal(lambda: torch.export.export(Branching(), (torch.ones(4),)))
    assert said
    assert "\n" not in said
    assert refusal(lambda: torch.export.export(torch.nn.ReLU(), (torch.ones(4),))) == ""
    assert capfd.readouterr() == ("", "")
    with pytest.raises(ZeroDivisionError):
        refusal(lambda: 1 // 0)
