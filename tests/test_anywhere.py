"""Commands as a person types them: each runs in a process of its own, and prints no error if it succeeds.

These tests and others have the marker `anywhere`. `.ci/anywhere` runs them under unusual conditions, such as a clone
below /tmp and a user that is not root.
"""

import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from commanding import CLASS, ROOT, command, nothing_left_running, outcomes, rows
from student_kit import solve

from grader import paths
from harness.storage.user_files import FOLDER_VARIABLE

pytestmark = pytest.mark.anywhere
SIMULATED = "04_autorange"
"""An exercise whose clock is simulated, so that other programs on the machine cannot change its points."""
WRONG = CLASS / "dora" / "01_correct_first.py"
"""An exercise that needs torch. It is wrong, and so it is never timed."""
PROGRAM = Path(sys.executable).parent / "fairclock"


@pytest.fixture(autouse=True)
def _progress_of_the_user(_own_folders: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the user's own state folder if the home is read-only, because nothing can change there."""
    if not os.access(Path.home(), os.W_OK):
        monkeypatch.delenv(FOLDER_VARIABLE)


def typed(*words: str | Path, folder: Path = ROOT, code: int = 0) -> str:
    """Run a command in a folder and return what it prints. Nothing may be printed to standard error."""
    done = subprocess.run(
        list(map(str, words)),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, ""), done.stdout
    return done.stdout


def handed_in(folder: Path, lesson: str) -> Path:
    """Copy the solution of a lesson into a folder, and return the copy's path."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(paths.solution(lesson), folder))


def class_of_three(folder: Path) -> Path:
    """Write the hand-ins of three students: a file, a notebook and a zip."""
    (folder / "ada").mkdir(parents=True)
    shutil.copy(WRONG, folder / "ada")
    (folder / "ben").mkdir()
    notebook(folder / "ben" / f"{SIMULATED}.ipynb")
    typed(*command("submit", handed_in(folder.parent / "cem", SIMULATED), "--no-grade", "--out", folder / "cem.zip"))
    return folder


def notebook(path: Path) -> Path:
    """Export the exercise `SIMULATED` as a notebook, put the solution into it, and return its path."""
    typed(*command("notebook", SIMULATED, "--out", path))
    solve(path)
    return path


def test_the_lessons_are_listed() -> None:
    assert SIMULATED in typed(sys.executable, "-m", "lessons")


@pytest.mark.long
def test_a_lesson_is_taken_with_the_installed_program() -> None:
    assert "✓" in typed(PROGRAM, "lessons", "4", "--no-input", "--fast")


def test_a_solution_is_checked(tmp_path: Path) -> None:
    assert "10 / 10" in typed(*command("check", handed_in(tmp_path, SIMULATED)))


@pytest.mark.parametrize(
    ("path", "status"), [(paths.stub(SIMULATED), "not written yet"), (WRONG, "batched_dot: wrong")]
)
def test_an_exercise_without_points_is_checked(path: Path, status: str) -> None:
    assert status in " ".join(typed(PROGRAM, "check", path, code=1).split())


def test_exercises_are_graded_and_packed(tmp_path: Path) -> None:
    handed_in(tmp_path / "own", SIMULATED)
    assert "10 / 10" in typed(*command("submit", tmp_path / "own", "--out", tmp_path / "own.zip"))
    assert zipfile.is_zipfile(tmp_path / "own.zip")


def test_a_notebook_is_exported_executed_and_checked(tmp_path: Path) -> None:
    import nbformat  # slow to import
    from nbclient import NotebookClient

    path = notebook(tmp_path / f"{SIMULATED}.ipynb")
    whole = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(whole, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert "10 / 10" in str([cell.get("outputs") for cell in whole.cells])
    assert "10 / 10" in typed(*command("check", path))


@pytest.mark.long
def test_a_killed_run_goes_on_and_writes_the_reports(tmp_path: Path) -> None:
    run = command("run", class_of_three(tmp_path / "hw1"), "--out", tmp_path / "grades", "--jobs", "2")
    graded = "SELECT student FROM gradings ORDER BY id"
    with nothing_left_running():
        first = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (kept := rows(tmp_path / "grades", graded)) and first.poll() is None:
            time.sleep(0.01)
        first.kill()
        assert first.wait() == -9, "the run must end by the kill, not by itself"
    with nothing_left_running():
        typed(*run)
    assert rows(tmp_path / "grades", graded)[: len(kept)] == kept
    found = outcomes(tmp_path / "grades")
    statuses = {(student, each.status) for student, of_student in found.items() for each in of_student.values()}
    assert statuses == {("ada", "WRONG"), ("ada", "RAISED"), ("ben", "PASSED"), ("cem", "PASSED")}
    assert (tmp_path / "grades" / "report.html").is_file()
    typed(*command("report", tmp_path / "grades"))


@pytest.mark.long
def test_a_student_works_with_the_released_kit_alone(tmp_path: Path) -> None:
    typed(*command("release", kit := tmp_path / "kit", "--lessons", SIMULATED))
    exercise = handed_in(kit / "lessons" / "exercises", SIMULATED)
    assert "10 / 10" in typed(*command("check", exercise), folder=kit)
    assert not (kit / "solutions").exists()
