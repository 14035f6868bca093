"""C code is compiled only once and stored in the cache. If it does not compile, the error has a message."""

import ctypes
import math
import subprocess
from pathlib import Path
from unittest import mock

import pytest

from harness.errors import MachineError
from harness.extensions import build, build_library, build_lock, build_seconds, compiled_before, inline_folder, lacking
from harness.machine import programs
from harness.storage import disk_cache

needs_compiler = pytest.mark.skipif(bool(lacking(python=False)), reason="it takes a C compiler")
ONE = "int one(void) { return 1; }"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(disk_cache.FOLDER_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@needs_compiler
def test_only_changed_source_is_compiled_again_and_a_failed_build_leaves_nothing(own_cache: Path) -> None:
    with pytest.raises(MachineError, match="undeclared"):
        build_library("int one(void) { return x; }")
    assert [path for path in own_cache.rglob("*") if path.is_file()] == []
    first = build(ONE, "one")
    assert ctypes.CDLL(str(first.path)).one() == 1
    with mock.patch.object(subprocess, "run", wraps=subprocess.run) as run:
        assert build(ONE, "one") == first
        assert not run.called
        other = build_library(ONE.replace("return 1", "return 2"))
        assert run.call_count == 1
    assert ctypes.CDLL(other).one() == 2


def test_a_missing_compiler_and_a_missing_header_have_different_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("CC", "no-such-compiler")
    assert programs.C_COMPILER in lacking()
    monkeypatch.setenv("CC", "true")
    monkeypatch.setattr("harness.extensions.headers", lambda: str(tmp_path))
    assert "Python.h is missing" in lacking()
    assert lacking(python=False) == ""


def test_the_error_for_a_cache_that_cannot_be_written_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(disk_cache.FOLDER_VARIABLE, "/dev/null/cache")
    with pytest.raises(MachineError, match=disk_cache.FOLDER_VARIABLE):
        inline_folder("int x;")


def test_a_build_saves_its_time_once_and_ignores_the_lock_of_a_killed_or_failed_build() -> None:
    folder = inline_folder("int x;")
    assert folder == inline_folder("int x;") != inline_folder("int y;")
    assert math.isnan(build_seconds(folder))
    with pytest.raises(RuntimeError), build_lock(folder):
        raise RuntimeError
    assert not compiled_before(folder)
    (folder / "lock").touch()
    with build_lock(folder):
        assert not (folder / "lock").exists()
        (folder / "x.so").touch()
    took = build_seconds(folder)
    assert took > 0
    assert compiled_before(folder)
    with build_lock(folder):
        pass
    assert build_seconds(folder) == took
