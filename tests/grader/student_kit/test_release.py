"""The student kit works, contains all files that students need, and none that they must not get."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from commanding import ROOT, grader
from once import once

from grader import catalogue, paths
from grader.authoring.stubs import stub_of
from grader.errors import GraderFault, UsageError
from grader.hand_ins import originals
from grader.student_kit import release

LESSONS = ("04_autorange", "06_ab_testing")


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a kit of two lessons."""

    def make(folder: Path) -> None:
        ended = grader("release", folder / "kit", "--lessons", "4", "--lessons", "06")
        assert ended.code == 0, ended.err
        assert "contains none of them" in ended.out
        assert "The kit contains only 04_autorange, 06_ab_testing." in ended.out

    return once(tmp_path_factory, "release", make) / "kit"


@pytest.fixture
def own(kit: Path, tmp_path: Path) -> Path:
    """Return a student's copy of the kit, with a solution of lesson 04."""
    shutil.copytree(kit, tmp_path / "own")
    shutil.copy(paths.solution("04_autorange"), tmp_path / "own" / "lessons" / "exercises")
    return tmp_path / "own"


def in_kit(kit: Path, state: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(kit), "FAIRCLOCK_STATE": str(state)}
    whole = [sys.executable, "-B", "-m", *command]
    return subprocess.run(whole, cwd=kit, env=environment, capture_output=True, text=True, check=False)


def check_notebook(path: Path) -> None:
    import nbformat  # slow to import

    nbformat.validate(nbformat.read(path, as_version=4))  # type: ignore[no-untyped-call]


def test_the_kit_has_stubs_and_nothing_that_solves_them(kit: Path) -> None:
    assert {path.name for path in kit.iterdir()} >= {"README.md", "pyproject.toml", "grader", "harness", "lessons"}
    assert not {"solutions", "tests"} & {path.name for path in kit.iterdir()}
    assert (kit / "lessons" / "glossary.toml").is_file()
    assert not (kit / "lessons" / "guide").exists()
    assert not list(kit.glob("grader/tasks/*/known/*/*.py")), "no task of these lessons runs a baseline"
    for lesson in LESSONS:
        stub = stub_of(paths.solution(lesson).read_text(encoding="utf-8"))
        assert (kit / "lessons" / "exercises" / f"{lesson}.py").read_text(encoding="utf-8") == stub


def test_the_kit_has_a_valid_notebook_of_each_lesson_and_exercise_and_nothing_of_other_lessons(kit: Path) -> None:
    found = {path.stem: path for path in (kit / "notebooks").iterdir()}
    assert set(found) == {f"{kind}{lesson}" for kind in ("", "lesson_") for lesson in LESSONS}
    for path in found.values():
        check_notebook(path)
    named = {path.name for path in kit.rglob("*") if path.name[:2].isdecimal() and path.name[2:3] == "_"}
    assert {name[:2] for name in named} == {"04", "06"}
    assert {path.name for path in (kit / "grader" / "tasks").glob("lesson_*")} == {f"lesson_{one}" for one in LESSONS}
    for name in ("ways", "mistakes"):
        texts = json.loads((kit / "grader" / "tasks" / f"{name}.json").read_text(encoding="utf-8"))
        assert {name.partition(".")[0] for name in texts} == set(LESSONS)


@pytest.mark.long
def test_the_kit_of_all_lessons_has_an_exercise_and_the_records_of_each(tmp_path: Path) -> None:
    ended = grader("release", tmp_path / "kit")
    assert ended.code == 0, ended.err
    assert "contains none of them" in ended.out
    recorded = {path.relative_to(ROOT) for path in (ROOT / "lessons" / "recorded").rglob("*") if path.is_file()}
    assert ".png" in {path.suffix for path in recorded}
    found = (tmp_path / "kit" / "lessons" / "recorded").rglob("*.*")
    assert {path.relative_to(tmp_path / "kit") for path in found} == recorded
    lessons = {path.stem for path in (ROOT / "lessons").glob("[0-9]*.py")}
    notebooks = {path.stem: path for path in (tmp_path / "kit" / "notebooks").iterdir()}
    for path in notebooks.values():
        check_notebook(path)
    assert notebooks.keys() == {f"lesson_{name}" for name in lessons} | set(catalogue.load().lessons)


def test_a_kit_knows_its_own_stubs_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(paths.SOLUTIONS, tmp_path / "solutions")
    with (tmp_path / "solutions" / "04_autorange.py").open("a") as solution:
        solution.write("\nLIMIT = 3\n")
    monkeypatch.setattr(paths, "SOLUTIONS", tmp_path / "solutions")
    (tmp_path / "kit").mkdir()  # an empty folder is filled
    release.release(tmp_path / "kit", LESSONS, notebooks=False)
    exercises = tmp_path / "kit" / "lessons" / "exercises"
    assert "LIMIT = 3" in (exercises / "04_autorange.py").read_text()
    monkeypatch.setattr(originals, "LISTING", exercises / "notebooks.json")
    for lesson in LESSONS:
        source = (exercises / f"{lesson}.py").read_text(encoding="utf-8")
        assert originals.code_digest(source) == originals.listed(lesson)


def test_a_student_can_check_with_the_kit_alone(own: Path, tmp_path: Path) -> None:
    done = in_kit(own, tmp_path / "state", "grader", "check", "04", "--verbose")
    assert done.returncode == 0, done.stderr
    assert "10 / 10" in done.stdout
    assert "Other right ways" in done.stdout
    refused = in_kit(own, tmp_path / "state", "grader", "check", "2")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "There are: 04_autorange, 06_ab_testing." in refused.stderr


def test_a_zip_holds_the_same_in_one_folder_and_replaces_a_file_with_force_alone(tmp_path: Path, kit: Path) -> None:
    (tmp_path / "kit.zip").write_text("mine")
    with pytest.raises(UsageError, match="exists already and is not empty"):
        release.release(tmp_path, force=True)
    with pytest.raises(UsageError, match=r"kit\.zip is there already.*--force"):
        release.release(tmp_path / "kit.zip", LESSONS, notebooks=False)
    assert (tmp_path / "kit.zip").read_text() == "mine"
    release.release(tmp_path / "kit.zip", LESSONS, notebooks=False, force=True)
    with zipfile.ZipFile(tmp_path / "kit.zip") as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    files = {path.relative_to(kit) for path in kit.rglob("*") if path.is_file()}
    assert names == {f"fairclock/{file}" for file in files if file.suffix != ".ipynb"}
    assert [path.name for path in tmp_path.iterdir()] == ["kit.zip"]


def test_a_part_of_a_solution_anywhere_stops_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [*release.kit_files(), paths.solution("04_autorange")]
    monkeypatch.setattr(release, "kit_files", lambda: files)
    with pytest.raises(GraderFault, match=r"solutions/04_autorange\.py"):
        release.release(tmp_path / "kit", LESSONS, notebooks=False)
    assert list(tmp_path.iterdir()) == []
