"""Files that stay after a run: a notebook's stamp shows whether a person has edited it, and files are written whole."""

import json
import stat
from pathlib import Path

import pytest

from harness.storage import disk_cache
from harness.storage.notebook_files import Cell, as_bytes, is_unedited, notebook, stamp_of
from harness.storage.user_files import write_whole

CELLS = [Cell("a", "markdown", "# Title"), Cell("b", "code", "x = 1\ny = 2")]
DATA = as_bytes(notebook(CELLS, made_of="it"))
OTHER = as_bytes(notebook([Cell("a", "code", "z = 3")]))


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


def test_cells_equal_to_the_new_notebook_do_not_count_as_an_edit_without_a_stamp(tmp_path: Path) -> None:
    whole = json.loads(DATA)
    del whole["metadata"]["fairclock"]
    (tmp_path / "a.ipynb").write_text(json.dumps(whole))
    assert is_unedited(tmp_path / "a.ipynb", DATA)
    assert not is_unedited(tmp_path / "a.ipynb", OTHER)


def test_a_file_that_is_not_a_notebook_counts_as_edited(tmp_path: Path) -> None:
    deep, cells, stamp = b"[" * 100_000, b'{"cells": [3]}', b'{"metadata": {"fairclock": []}}'
    for data in (b"", b"{", b"[]", b"\xff", deep, b'{"cells": 3}', cells, stamp):
        (tmp_path / "a.ipynb").write_bytes(data)
        assert stamp_of(data) == ""
        assert not is_unedited(tmp_path / "a.ipynb", DATA)


def test_a_file_replaces_another_with_the_given_permissions_and_a_reader_of_the_old_one_reads_on(
    tmp_path: Path,
) -> None:
    file = tmp_path / "kept.json"
    for durable in (True, False):
        file.write_bytes(b"old")
        with file.open("rb") as reading:
            write_whole(file, b"new", mode=0o600, durable=durable)
            assert reading.read() == b"old"
        assert file.read_bytes() == b"new"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_without_a_chosen_folder_the_cache_is_in_the_users_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(disk_cache.FOLDER_VARIABLE, raising=False)
    assert disk_cache.folder().name == "fairclock"
