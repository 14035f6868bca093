import os
import stat
from pathlib import Path

import pytest

from harness.files import put


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_is_put_in_place_of_another_with_the_permissions_asked_for(tmp_path: Path, *, durable: bool) -> None:
    file = tmp_path / "kept.json"
    file.write_bytes(b"old")
    put(file, b"new", mode=0o600, durable=durable)
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_whoever_has_the_old_file_open_reads_all_of_it(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    file.write_bytes(b"old")
    with file.open("rb") as reading:
        put(file, b"new")
        assert reading.read() == b"old"


def test_what_cannot_be_put_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "a folder, where a file should go"
    folder.mkdir()
    (folder / "within").touch()
    with pytest.raises(OSError, match=os.strerror(21)):
        put(folder, b"new")
    assert list(tmp_path.iterdir()) == [folder]
