"""The zip of a hand-in: what is in it, and which file it may replace."""

import os
import zipfile
from pathlib import Path

import pytest
from classroom import KIT, hand_in, notebook

from grader.desk.submission_zip import is_submission, submit
from grader.hand_ins.manifest import Entry, Manifest
from grader.hand_ins.refusal import digest
from harness.errors import UsageError


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return {"01_dot": hand_in(tmp_path, "kit", "x = 1"), "02_timer": hand_in(tmp_path, "kit", "y = 2", "02_timer")}


def test_the_zip_holds_the_exercises_and_a_manifest(files: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "new" / "out.zip"
    assert not submit(files, out, kit=KIT)
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == ["01_dot.py", "02_timer.py", "manifest.json"]
        manifest = Manifest.from_json(archive.read("manifest.json"))
    assert manifest == Manifest(
        KIT,
        (
            Entry("01_dot", "01_dot.py", digest(b"x = 1")),
            Entry("02_timer", "02_timer.py", digest(b"y = 2")),
        ),
    )


def test_the_same_files_give_the_same_bytes_whatever_their_dates(files: dict[str, Path], tmp_path: Path) -> None:
    first, second = tmp_path / "1.zip", tmp_path / "2.zip"
    submit(files, first, kit=KIT)
    os.utime(files["01_dot"], (0, 0))
    files["01_dot"].chmod(0o755)
    submit(dict(reversed(files.items())), second, kit=KIT)
    assert first.read_bytes() == second.read_bytes()


def test_a_file_gets_its_lessons_name(tmp_path: Path) -> None:
    copy = tmp_path / "01_dot (1).ipynb"
    copy.write_bytes(notebook("x = 1"))
    submit({"01_dot": copy}, tmp_path / "out.zip", kit=KIT)
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert archive.namelist() == ["01_dot.ipynb", "manifest.json"]


def test_a_file_that_would_be_refused_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    (tmp_path / "01_dot.ipynb").write_bytes(notebook("%time x"))
    for files, part in (
        ({"01_dot": tmp_path / "01_dot.ipynb"}, "Cell 1"),
        ({"01_dot": tmp_path / "gone" / "01_dot.py"}, "There is no file"),
        ({}, "no exercise"),
    ):
        with pytest.raises(UsageError, match=part):
            submit(files, tmp_path / "out.zip", kit=KIT)
    assert not (tmp_path / "out.zip").exists()


def test_only_an_unchanged_zip_of_submit_is_known_as_one(files: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "out.zip"
    submit(files, out, kit=KIT)
    assert is_submission(out)
    assert submit(files, out, kit=KIT)
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr(".notes", "mine")
    assert not is_submission(out)
    (tmp_path / "other").write_bytes(b"PK")
    assert not is_submission(tmp_path / "other")
