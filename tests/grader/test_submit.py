import os
import zipfile
from pathlib import Path

import pytest
from classroom import KIT, LESSONS, hand_in, notebook

from grader.hand_ins.manifest import Entry, Manifest
from grader.hand_ins.refusal import digest
from grader.submit import submit
from harness.errors import UsageError


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    hand_in(tmp_path, "kit", "x = 1")
    hand_in(tmp_path, "kit", "y = 2", "02_timer")
    (tmp_path / "kit" / "notes.txt").write_text("mine")
    return tmp_path / "kit"


def test_the_zip_holds_the_exercises_and_a_manifest(kit: Path, tmp_path: Path) -> None:
    made = submit(kit, tmp_path / "new" / "out.zip", lessons=LESSONS, kit=KIT)
    with zipfile.ZipFile(made) as archive:
        assert archive.namelist() == ["01_dot.py", "02_timer.py", "manifest.json"]
        manifest = Manifest.from_json(archive.read("manifest.json"))
    assert manifest == Manifest(
        KIT,
        (
            Entry("01_dot", "01_dot.py", digest(b"x = 1")),
            Entry("02_timer", "02_timer.py", digest(b"y = 2")),
        ),
    )


def test_the_same_files_give_the_same_bytes_whatever_their_dates(kit: Path, tmp_path: Path) -> None:
    first = submit(kit, tmp_path / "1.zip", lessons=LESSONS, kit=KIT).read_bytes()
    os.utime(kit / "01_dot.py", (0, 0))
    (kit / "01_dot.py").chmod(0o755)
    files = [kit / "02_timer.py", kit / "01_dot.py"]
    assert submit(files, tmp_path / "2.zip", lessons=LESSONS, kit=KIT).read_bytes() == first


def test_a_file_that_would_be_refused_is_refused_before_it_is_sent(kit: Path, tmp_path: Path) -> None:
    (kit / "01_dot.py").unlink()
    (kit / "01_dot.ipynb").write_bytes(notebook("%time x"))
    with pytest.raises(UsageError, match="Cell 1"):
        submit(kit, tmp_path / "out.zip", lessons=LESSONS, kit=KIT)
    assert not (tmp_path / "out.zip").exists()


def test_one_lesson_twice_is_refused(kit: Path, tmp_path: Path) -> None:
    (kit / "01_dot.ipynb").write_bytes(notebook("x = 1"))
    with pytest.raises(UsageError, match="two files for 01_dot"):
        submit(kit, tmp_path / "out.zip", lessons=LESSONS, kit=KIT)


def test_nothing_to_hand_in_says_what_is_expected(kit: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for source, part in (
        (tmp_path / "empty", "holds no exercise"),
        (tmp_path / "gone", "no folder"),
        ([kit / "notes.txt"], "is no exercise"),
        ([kit / "gone" / "01_dot.py"], "There is no file"),
        ([], "Name at least one"),
    ):
        with pytest.raises(UsageError, match=part):
            submit(source, tmp_path / "out.zip", lessons=LESSONS, kit=KIT)
