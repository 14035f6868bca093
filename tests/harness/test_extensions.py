"""C compiled once and kept: what is kept, what is compiled anew, and what is said where it cannot be."""

import ctypes
import math
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import disk_cache, programs
from harness.errors import MachineError
from harness.extensions import build, build_library, building, compiled_before, inline_folder, lacking, took_s
from harness.extensions.libraries import compiler

needs_compiler = pytest.mark.skipif(bool(lacking(python=False)), reason="it takes a C compiler")
ONE = "int one(void) { return 1; }"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(disk_cache.FOLDER_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@needs_compiler
def test_what_is_kept_is_not_compiled_again_and_what_has_changed_is(monkeypatch: pytest.MonkeyPatch) -> None:
    first = build(ONE, "one")
    assert ctypes.CDLL(str(first.path)).one() == 1
    commands: list[list[str]] = []
    real = subprocess.run

    def watched(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return real(command, **options)

    monkeypatch.setattr(subprocess, "run", watched)
    assert build(ONE, "one") == first
    assert commands == []
    other = build_library(ONE.replace("return 1", "return 2"))
    assert ctypes.CDLL(other).one() == 2
    assert len(commands) == 1


@needs_compiler
def test_what_does_not_compile_is_told_in_the_compilers_words_and_leaves_nothing(own_cache: Path) -> None:
    with pytest.raises(MachineError, match="undeclared"):
        build_library("int one(void) { return x; }")
    assert [path for path in own_cache.rglob("*") if path.is_file()] == []


def test_a_missing_compiler_and_a_missing_header_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("CC", "no-such-compiler")
    assert programs.C_COMPILER in lacking()
    assert compiler() == "no-such-compiler"
    monkeypatch.setenv("CC", "true")
    monkeypatch.setattr("harness.extensions.libraries.headers", lambda: str(tmp_path))
    assert "Python.h is missing" in lacking()
    assert lacking(python=False) == ""


def test_a_cache_that_cannot_be_written_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(disk_cache.FOLDER_VARIABLE, "/dev/null/cache")
    with pytest.raises(MachineError, match=disk_cache.FOLDER_VARIABLE):
        inline_folder("int x;")


def test_the_folder_of_a_source_is_its_own_and_empty_at_first() -> None:
    one, other = inline_folder("int x;"), inline_folder("int y;")
    assert one != other
    assert one == inline_folder("int x;")
    assert not compiled_before(one)
    assert math.isnan(took_s(one))


def test_a_build_notes_its_time_once_and_what_a_killed_one_left_is_no_hindrance() -> None:
    folder = inline_folder("int x;")
    (folder / "lock").touch()
    with building(folder):
        assert not (folder / "lock").exists()
        (folder / "x.so").touch()
    took = took_s(folder)
    assert took > 0
    assert compiled_before(folder)
    with building(folder):
        pass
    assert took_s(folder) == took


def test_a_build_that_fails_is_none() -> None:
    folder = inline_folder("int x;")
    with pytest.raises(RuntimeError), building(folder):
        raise RuntimeError
    assert not compiled_before(folder)
