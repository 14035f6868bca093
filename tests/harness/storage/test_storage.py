"""Files that stay after a run: notebooks that a person may have edited, files written whole, and compiled C code."""

import ctypes
import json
import stat
import subprocess
from pathlib import Path
from unittest import mock

import pytest

from harness.errors import MachineError
from harness.extensions import build, build_library, build_lock, build_seconds, compiled_before, inline_folder, lacking
from harness.storage import disk_cache
from harness.storage.notebook_files import Cell, is_unedited, notebook, stamp_of
from harness.storage.user_files import write_whole

CELLS = [Cell("a", "markdown", "# Title"), Cell("b", "code", "x = 1\ny = 2")]
DATA = notebook(CELLS, made_of="it")
OTHER = notebook([Cell("a", "code", "z = 3")])


def changed(path: Path, **cell: object) -> Path:
    whole = json.loads(DATA)
    whole["cells"][1] |= cell
    path.write_text(json.dumps(whole))
    return path


def test_a_changed_text_or_kind_counts_as_an_edit_and_outputs_and_outer_white_space_do_not(tmp_path: Path) -> None:
    assert stamp_of(DATA, "made_of") == "it"
    assert stamp_of(DATA) != stamp_of(OTHER) != ""
    printed = [{"output_type": "stream", "name": "stdout", "text": "1"}]
    path = changed(tmp_path / "a.ipynb", outputs=printed, execution_count=3, source=["x = 1\n", "y = 2\n"])
    assert is_unedited(path, OTHER)
    for cell in ({"source": "x = 2"}, {"cell_type": "markdown"}, {"source": ["x = 1\n", "y=2"]}):
        assert not is_unedited(changed(tmp_path / "a.ipynb", **cell), OTHER)
    whole = json.loads(DATA)
    del whole["metadata"]["fairclock"]  # without a stamp, the cells are compared with those of the new notebook
    path.write_text(json.dumps(whole))
    assert is_unedited(path, DATA)
    assert not is_unedited(path, OTHER)


def test_a_file_that_is_not_a_notebook_counts_as_edited(tmp_path: Path) -> None:
    deep, cells, stamp = b"[" * 100_000, b'{"cells": [3]}', b'{"metadata": {"fairclock": []}}'
    for data in (b"", b"{", b"[]", b"\xff", deep, b'{"cells": 3}', cells, stamp):
        (tmp_path / "a.ipynb").write_bytes(data)
        assert stamp_of(data) == ""
        assert not is_unedited(tmp_path / "a.ipynb", DATA)


def test_a_file_replaces_another_and_its_readers_read_on(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    for durable in (True, False):
        file.write_bytes(b"old")
        with file.open("rb") as reading:
            write_whole(file, b"new", mode=0o600, durable=durable)
            assert reading.read() == b"old"
        assert file.read_bytes() == b"new"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


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


def test_a_build_ignores_the_lock_of_a_killed_or_failed_build() -> None:
    folder = inline_folder(["int x;"])
    with pytest.raises(RuntimeError), build_lock(folder):
        raise RuntimeError
    assert not compiled_before(folder)
    (folder / "lock").touch()
    with build_lock(folder):
        assert not (folder / "lock").exists()
        (folder / "x.so").touch()
    assert compiled_before(folder)
    assert build_seconds(folder) > 0
