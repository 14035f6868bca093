"""The autograder bundle, run as Gradescope runs it: unzipped to a folder, set up once, then run.

The packages are those of this Python; a variable makes `setup.sh` use it.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commanding import ROOT, CommandResult, grader
from container import container
from once import once

from grader import catalogue, paths
from grader.class_run.grading import HandInGrader
from grader.course.results import TaskPoints
from grader.gradescope import autograder
from grader.records import Fault, Report, Submission
from grader.task import Task

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

METADATA = {
    "created_at": "2026-11-20T14:22:32.365935-07:00",
    "users": [{"email": "ada@uni.example", "id": 1234, "name": "Ada Lovelace"}],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(folder: Path) -> None:
        ended = grader("release", "--gradescope", folder / "autograder.zip", "--lessons", "04", "--lessons", "02")
        assert ended.code == 0, ended.err
        assert "an autograder for 04_autorange, 02_timeit_vs_timer: " in ended.out
        assert "contains none of them" in ended.out

    return once(tmp_path_factory, "bundle", make) / "autograder.zip"


@pytest.fixture
def image(made: Path, tmp_path: Path) -> Path:
    """Return /autograder as Gradescope builds it."""
    image = tmp_path / "autograder"
    for name in ("source", "submission", "results"):
        (image / name).mkdir(parents=True)
    subprocess.run([sys.executable, "-m", "zipfile", "-e", made, image / "source"], check=True)
    shutil.copy(image / "source" / "run_autograder", image)
    (image / "run_autograder").chmod(0o755)
    (image / "submission_metadata.json").write_text(json.dumps(METADATA))
    return image


def inside(image: Path, script: str, kind: str = "") -> CommandResult:
    """Run a script of the autograder, in a container of this kind, or on this machine."""
    program = ["/bin/bash", str(image / script)]
    variables = {"AUTOGRADER_ROOT": str(image), "FAIRCLOCK_PYTHON": sys.executable}
    variables |= {"PYTHONPATH": str(ROOT)} if kind else {}  # the container itself is started by a module of the tests
    done = subprocess.run(
        container(kind, program) if kind else program,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return CommandResult(done.returncode, done.stdout, done.stderr)


def graded(image: Path, kind: str = "") -> CommandResult:
    """Set the autograder up, hand in the solution of lesson 04, and run it."""
    setup = inside(image, "source/setup.sh", kind)
    assert setup.code == 0, setup.out + setup.err
    shutil.copy(paths.solution("04_autorange"), image / "submission")
    return inside(image, "run_autograder", kind)


def result_of(ended: CommandResult, image: Path) -> Any:
    """Return the content of results.json after the solution of lesson 04 was graded with full points."""
    assert ended.code == 0, ended.out + ended.err
    result = json.loads((image / "results" / "results.json").read_text())
    assert result["score"] == 10.0
    return result


@pytest.mark.program("setpriv")
def test_a_submission_is_graded_in_a_sandbox_and_a_lesson_not_handed_in_has_no_points(image: Path) -> None:
    ended = graded(image)
    result = result_of(ended, image)
    assert "handed in 2026-11-20T21:22:32+00:00." in ended.out
    tests = {test["name"]: (test["score"], test["max_score"]) for test in result["tests"]}
    assert [name.partition(".")[0] for name in tests] == ["04_autorange", *["02_timeit_vs_timer"] * (len(tests) - 1)]
    assert sum(most for _, most in tests.values()) == sum(
        task.points for lesson in ("02_timeit_vs_timer", "04_autorange") for task in catalogue.load().tasks(lesson)
    )
    assert "02_timeit_vs_timer: Nothing was handed in for 02_timeit_vs_timer; hand in" in result["output"]
    assert result["extra_data"]["student"] == "ada@uni.example"
    assert [one["sandboxed"] for one in result["extra_data"]["submissions"]] == [True, True]
    assert "without a sandbox" not in result["output"]


@pytest.mark.long
def test_without_a_sandbox_it_takes_no_points_unless_the_instructor_allowed_that(image: Path) -> None:
    ended = graded(image, "old docker")
    assert ended.code == 2
    assert "Nothing was graded: students' code needs a sandbox, and bubblewrap does not work" in ended.out
    assert "--no-sandbox" in ended.out
    assert list((image / "results").iterdir()) == []
    allowed = {"lessons": ["04_autorange"], "sandbox": "where it works"}
    (image / "source" / "bundle.json").write_text(json.dumps(allowed))
    ended = inside(image, "run_autograder", "old docker")
    assert "NO SANDBOX: bubblewrap does not work" in ended.out
    assert "Graded without a sandbox: 04_autorange." in result_of(ended, image)["output"]


def for_lesson(lesson: str, root: Path) -> None:
    """Write the settings of an autograder for one lesson."""
    for name in ("source", "submission"):
        (root / name).mkdir()
    (root / "source" / "bundle.json").write_text(json.dumps({"lessons": [lesson], "sandbox": "needed"}))


def test_after_an_internal_error_gradescope_gets_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(_submission: Submission, _seed: str) -> Report:
        raise AssertionError

    def fails(submission: Submission, _seed: str, _pool: object, tasks: Sequence[Task]) -> Report:
        points = tuple(TaskPoints(task.lesson, task.full_name, task.points) for task in tasks)
        return HandInGrader(never, "", points, sandboxed=True).lost(submission, Fault("ZeroDivisionError", "")).report

    monkeypatch.setattr(autograder, "grade", fails)
    for_lesson("04_autorange", tmp_path)
    assert autograder.main([str(tmp_path)]) == 3
    assert "The grader failed (ZeroDivisionError)" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()


def test_the_bundle_has_scripts_at_its_root_and_nothing_that_solves_an_exercise(made: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(made) as archive:
        modes = {info.filename: info.external_attr >> 16 & 0o777 for info in archive.infolist()}
        archive.extractall(tmp_path)
    assert {name for name in modes if "/" not in name} == {"setup.sh", "run_autograder", "bundle.json"}
    assert modes["setup.sh"] == modes["run_autograder"] == 0o755
    assert not [name for name in modes if "solutions" in name or "tests/" in name or name.endswith(".seed")]
    chosen = {"lessons": ["04_autorange", "02_timeit_vs_timer"], "sandbox": "needed"}
    assert json.loads((tmp_path / "bundle.json").read_text()) == chosen
