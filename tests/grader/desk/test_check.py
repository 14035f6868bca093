"""The output of `fairclock check` for students: what is missing, wrong or slow, and what to do next."""

import json
import shutil
from pathlib import Path

import pytest
from classroom import ENVIRONMENT
from commanding import CLASS, ROOT, CommandResult, grader

from grader import catalogue, overlays, paths
from grader.commands.apps import run_grader
from grader.desk import cells, student_state
from grader.desk.check_screen import NO_SANDBOX
from grader.desk.class_differences import class_differences
from grader.isolation import sandbox
from grader.isolation.sandbox_problems import SandboxProblem
from grader.records import Attempt, Report, Status, Submission, Verdict
from lessons.engine import listing
from lessons.engine.listing import ExercisePoints

KNOWN = ROOT / "grader" / "tasks"


@pytest.fixture
def state(tmp_path: Path) -> dict[str, str]:
    """Return the variable that names a new state folder, in which no hint was read yet."""
    return {"FAIRCLOCK_STATE": str(tmp_path / "state")}


def handed(tmp_path: Path, source: Path, lesson: str) -> Path:
    """Copy a file to the name of an exercise, and return the copy's path."""
    path = tmp_path / f"{lesson}{source.suffix}"
    shutil.copy(source, path)
    return path


def known(tmp_path: Path, lesson: str, task: str, name: str) -> CommandResult:
    """Check a known submission."""
    path = tmp_path / f"{lesson}.py"
    path.write_text(overlays.whole(KNOWN / f"lesson_{lesson}" / "known" / task / f"{name}.py"), encoding="utf-8")
    return grader("check", path)


def test_the_untouched_stub_gets_the_next_step_and_what_is_missing() -> None:
    ended = grader("check", "04_autorange")
    heading, _, hint, missing, file = ended.out.splitlines()
    assert heading == " 0 / 10  04_autorange · blocked_autorange: not written yet"
    assert hint == "   First hint: fairclock check 04_autorange --hint"
    assert missing.startswith("   blocked_autorange still raises NotImplementedError (line ")
    assert file.endswith("04_autorange.py, which you have not changed yet.")
    assert ended.code == 1


def test_a_wrong_answer_reads_its_smallest_case_and_a_slow_one_the_next_tier(tmp_path: Path) -> None:
    ended = known(tmp_path, "01_correct_first", "batched_dot", "wrong_mean")
    total, heading, explanation, hint, case, answer, *_ = ended.out.splitlines()
    assert total.startswith(" Total: 0 / ")
    assert heading == " 0 / 10  01_correct_first · batched_dot: wrong"
    assert explanation == "   → A mean instead of a sum gives this wrong answer."
    assert hint == "   First hint: fairclock check 01_correct_first --hint batched_dot"
    assert "cases. The smallest: a, b of shape (1, 3), float32" in case
    assert all(word in answer for word in ("expected", "got", "allowed"))
    assert ended.code == 1
    ended = known(tmp_path, "04_autorange", "blocked_autorange", "tier1_four_times")
    heading, measured, hint = ended.out.splitlines()
    assert heading.startswith(" 6 / 10  04_autorange · blocked_autorange: right, tier 1 of 3, ratio ")
    assert "× as much simulated time as the submission. Next tier: 2.2" in measured
    assert measured.endswith("8 points.")
    assert hint.startswith("   First hint: ")
    assert ended.code == 1


def test_full_marks_end_with_0_and_verbose_shows_the_idea(state: dict[str, str], tmp_path: Path) -> None:
    file = handed(tmp_path, paths.solution("04_autorange"), "04_autorange")
    ended = grader("check", file, env=state)
    heading, _ = ended.out.splitlines()
    assert heading.startswith(" 10 / 10  04_autorange · blocked_autorange: right, tier 3 of 3")
    assert ended.code == 0
    (task,) = catalogue.load().tasks("04_autorange")
    printed = " ".join(grader("check", file, "-v", env=state).out.split())
    assert f"That is the top tier. How the reference solution works: {task.idea} " in printed
    assert "Other right ways" in printed
    grader("check", "2", "repair", env=state)  # the points of one task of two are not kept
    assert listing.load_points(Path(state["FAIRCLOCK_STATE"])) == {"04_autorange": ExercisePoints(10, 10)}


def test_what_a_submission_prints_is_shown_when_it_fails_and_a_syntax_error_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "04_autorange.py"
    path.write_text("print('half way there')\ndef blocked_autorange(run, clock, min_run_time):\n    return 1 / 0\n")
    ended = grader("check", path)
    assert "raised ZeroDivisionError: division by zero (line 3 of 04_autorange.py).\n" in ended.out
    assert "Your code printed:\n     half way there\n" in ended.out
    ended = grader("check", CLASS / "fatima" / "04_autorange.py")
    message, line, caret = ended.out.splitlines()[-3:]
    assert message == "   The file is not Python: expected ':' (line 6 of 04_autorange.py)."
    assert caret.index("^") == len(line), "the colon is missing at the end of the line"
    assert ended.code == 1


def hint_lines(ended: CommandResult) -> list[str]:
    return [line.strip() for line in ended.out.splitlines() if line.strip().startswith("Hint ")]


def test_hints_come_one_at_a_time_are_offered_until_the_last_and_can_be_read_again(state: dict[str, str]) -> None:
    (task,) = catalogue.load().tasks("04_autorange")
    given = [grader("check", "4", "--hint", env=state) for _ in range(2)]
    again = grader("check", "4", "--hints", env=state)
    assert hint_lines(again) == [f"Hint {n} of 3: {task.hints[n - 1]}" for n in (1, 2)], "no unread hint"
    assert grader("check", "4", env=state).out.splitlines()[2].startswith("   Next hint: ")
    given += [grader("check", "4", "--hint", env=state) for _ in range(2)]
    assert [hint_lines(ended) for ended in given] == [[f"Hint {n} of 3: {task.hints[n - 1]}"] for n in (1, 2, 3, 3)]


def test_two_tasks_get_two_verdicts_a_total_and_a_hint(state: dict[str, str], tmp_path: Path) -> None:
    written = tmp_path / "results.json"
    written.write_text("mine", encoding="utf-8")
    asked = ("check", CLASS / "emil" / "02_timeit_vs_timer.py", "--hint", "--json", written)
    assert (grader(*asked, env=state).code, written.read_text(encoding="utf-8")) == (2, "mine")
    ended = grader(*asked, "--force", env=state)
    assert ended.code == 1
    assert ended.out.splitlines()[0] == " Total: 10 / 20 points in 2 tasks"
    assert len(hint_lines(ended)) == 1
    results = json.loads(written.read_text(encoding="utf-8"))
    assert [(task["status"], task["points"]) for task in results["tasks"]] == [("raised", 0), ("passed", 10)]
    assert results["tasks"][0]["idea"] == "", "only full marks show the idea of the reference"


def report(points: float = 6.0, lesson: str = "01_dot", status: Status = Status.PASSED) -> Report:
    submission = Submission("you", lesson, f"{lesson}.py", "00ff", "x = 1")
    verdict = Verdict(f"{lesson}.task", points, 10.0, None, Attempt(status))
    return Report(submission, (verdict,), ENVIRONMENT, sandboxed=False, duration_s=1.0)


def test_points_are_kept_over_a_damaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "state"
    monkeypatch.setenv("FAIRCLOCK_STATE", str(folder))
    for one in (report(4.0), report(6.0), report(0.0, "02_timer"), report(0.0, status=Status.GRADER_ERROR)):
        student_state.keep_points(one)
    assert listing.load_points() == {"01_dot": ExercisePoints(6.0, 10.0), "02_timer": ExercisePoints(0.0, 10.0)}
    assert [path.name for path in folder.iterdir()] == [student_state.POINTS], "no incomplete file is left"
    for damaged in (b"{", b"[1]", b'{"format": 1, "lessons": {"02_timer": 1}}'):
        (folder / student_state.POINTS).write_bytes(damaged)
        student_state.keep_points(report())
        assert listing.load_points()["01_dot"].points == 6.0, damaged


def test_without_a_sandbox_the_difference_stands_before_the_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sandbox, "problem", lambda: SandboxProblem("none", "none"))
    file = handed(tmp_path, paths.stub("04_autorange"), "04_autorange")
    assert run_grader(["check", str(file)]) == 1
    note, points, *_ = capsys.readouterr().out.splitlines()
    assert (note.strip(), " 0 / 10 " in points) == (NO_SANDBOX, True)
    cells.main("04_autorange", file, None, verbose=False)
    assert json.loads(capsys.readouterr().out)[0][0] == NO_SANDBOX


IMPORTS = {
    "import my_helper": ["my_helper"],
    "def f():\n    from harness.paired import duel": ["harness"],
    "import folder.inside, grader.task": ["folder", "grader"],
    "import math, random\nimport torch.nn\nfrom . import my_helper": [],
    "import sympy, matplotlib.pyplot, yaml, IPython\nimport no_such_package": [],
    "import xdist, hypothesis.strategies": ["xdist", "hypothesis"],
    "import my_helper\nthis is no Python": [],
}


@pytest.mark.parametrize("source", IMPORTS)
def test_imports_that_the_graded_class_lacks_are_named(source: str, tmp_path: Path) -> None:
    (tmp_path / "my_helper.py").touch()
    (tmp_path / "random.py").touch()
    (tmp_path / "folder").mkdir()
    path = tmp_path / "04_autorange.py"
    path.write_text(source, encoding="utf-8")
    warned = [*class_differences(path, source)]
    assert [warning.split("`")[1].removeprefix("import ") for warning in warned] == IMPORTS[source]
