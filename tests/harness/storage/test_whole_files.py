import os
import stat
from pathlib import Path

import pytest

from harness.storage.whole_files import write_whole


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_replaces_another_with_the_given_permissions(tmp_path: Path, *, durable: bool) -> None:
    file = tmp_path / "kept.json"
    file.write_bytes(b"old")
    write_whole(file, b"new", mode=0o600, durable=durable)
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_a_reader_of_the_old_file_still_reads_all_of_it(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    file.write_bytes(b"old")
    with file.open("rb") as reading:
        write_whole(file, b"new")
        assert reading.read() == b"old"


def test_a_failed_write_leaves_the_old_file_and_no_temporary_file(tmp_path: Path) -> None:
    folder = tmp_path / "a folder, where a file should go"
    folder.mkdir()
    (folder / "within").touch()
    with pytest.raises(OSError, match=os.strerror(21)):
        write_whole(folder, b"new")
    assert list(tmp_path.iterdir()) == [folder]
