"""Parts of the student's commands: stored points, changes of an exercise, `--watch`, and the early import of torch."""

import subprocess
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

import pytest
from classroom import ENVIRONMENT
from commanding import ROOT, command, nothing_left_running
from rich.console import Console

from grader import catalogue, paths
from grader.commands.apps import run_grader
from grader.desk import early_start, student_state
from grader.desk.originals import code_digest
from grader.desk.watch import watch
from grader.errors import UsageError
from grader.isolation import sandbox
from grader.isolation.process_tree import ProcessTree
from grader.records import Attempt, Report, Status, Submission, Verdict
from harness.command_line.names import lesson_aliases
from lessons.engine import listing
from lessons.engine.listing import ExercisePoints

# ----------------------------------------------------------------------------------------------- stored points


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAIRCLOCK_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def report(points: float = 6.0, lesson: str = "01_dot", status: Status = Status.PASSED) -> Report:
    submission = Submission("you", lesson, f"{lesson}.py", "00ff", "x = 1")
    verdict = Verdict(f"{lesson}.task", points, 10.0, None, Attempt(status))
    return Report(submission, (verdict,), ENVIRONMENT, sandboxed=False, duration_s=1.0)


def test_the_last_points_of_each_lesson_are_kept_for_the_list_of_lessons(state: Path) -> None:
    for one in (report(4.0), report(6.0), report(0.0, "02_timer"), report(0.0, status=Status.GRADER_ERROR)):
        student_state.keep_points(one)
    assert listing.load_points() == {"01_dot": ExercisePoints(6.0, 10.0), "02_timer": ExercisePoints(0.0, 10.0)}
    assert [path.name for path in state.iterdir()] == [student_state.POINTS], "no incomplete file is left"


def test_a_damaged_file_is_replaced_and_a_folder_that_cannot_be_written_is_left_alone(state: Path) -> None:
    state.mkdir()
    for damaged in (
        b"",
        b"{",
        b"[1]",
        b"\xff\xfe",
        b'{"format": 1, "lessons": 3}',
        b'{"format": 2, "lessons": {}}',
        b'{"format": 1, "lessons": {"02_timer": 1}}',
        b"[" * 9999,
    ):
        (state / student_state.POINTS).write_bytes(damaged)
        student_state.keep_points(report())
        assert listing.load_points()["01_dot"].points == 6.0
    (state / student_state.POINTS).unlink()
    state.rmdir()
    state.write_text("a file where the folder should be")
    student_state.keep_points(report())
    assert state.read_text() == "a file where the folder should be"


# ----------------------------------------------------------------------------------------- changed exercises

STUB = '''"""About it."""

import math


def area(r):
    """Return the area."""
    raise NotImplementedError
'''


def test_only_a_change_of_the_code_changes_an_exercise() -> None:
    for same in (
        STUB.replace("\n", "\r\n"),
        STUB.replace('"""About it."""', '"""Something else."""'),
        "# mine\n" + STUB + "\n\n# todo\n",
        STUB.replace("import math\n", "import math   \n\n\n"),
        STUB + '\nif __name__ == "__main__":\n    print(area(3))\n',
    ):
        assert code_digest(same) == code_digest(STUB), same
    for other in (
        STUB.replace("raise NotImplementedError", "return math.pi * r**2"),
        STUB + "\nLIMIT = 3\n",
        STUB.replace("raise", "  raise"),
        STUB + '\nif __name__ == "__main__":\n    pass\nelse:\n    area = abs\n',
        STUB + '\nif __name__ != "__main__":\n    area = abs\n',
        STUB.replace('"""Return the area."""', '"""Return the area.\n\n    # include\n    """'),
        "def f(:\n",
        "",
        "x = '\0'",
        "(" * 10_000,
    ):
        assert code_digest(other) != code_digest(STUB), other
    with_c = 'SOURCE = """\n#define N 3\n\nint f;\n"""\n'
    assert code_digest(with_c) != code_digest(with_c.replace("#define N 3\n", ""))
    assert code_digest(with_c) != code_digest(with_c.replace("N 3\n\n", "N 3\n"))


# ---------------------------------------------------------------------------------------------------- --watch


def test_all_files_are_checked_first_then_those_saved_and_an_error_is_told_and_waited_for() -> None:
    one, two = Path("one.py"), Path("two.py")
    checked: list[list[Path]] = []
    said = StringIO()

    def check(files: Sequence[Path]) -> int:
        checked.append(list(files))
        if len(checked) == 2:
            raise UsageError("one.py is empty.")
        return len(checked)

    code = watch(check, [one, two], Console(file=said), iter([{two}, {two, one}]))
    assert (checked, code) == ([[one, two], [two], [one, two]], 3)
    assert "one.py is empty." in said.getvalue()


# ------------------------------------------------------------------------------------- early import of torch


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    yield
    early_start.end()


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[ProcessTree]:
    """Return a list to which each start of a template process is added."""
    started, start = list[ProcessTree](), sandbox.start_template

    def noted(*arguments: int, **options: bool) -> ProcessTree:
        started.append(start(*arguments, **options))  # type: ignore[arg-type]
        return started[-1]

    monkeypatch.setattr(sandbox, "start_template", noted)
    return started


def test_the_guess_is_right_for_each_exercise_and_each_of_its_names() -> None:
    known = catalogue.load()
    for task in (task for lesson in known.lessons for task in known.tasks(lesson)):
        of_lesson = any(one.needs_torch for one in known.tasks(task.lesson))
        for name in lesson_aliases(task.lesson):
            assert early_start.guess_torch(["check", name]) is of_lesson, task
            assert early_start.guess_torch(["check", f"{name}.{task.name}"]) is task.needs_torch, task
        assert early_start.guess_torch(["check", "--json", "out", f"hw 1/{task.lesson}.ipynb"]) is of_lesson, task
        assert early_start.guess_torch(["check", f"hw 1/{task.lesson}.py", task.name]) is task.needs_torch, task
        assert early_start.guess_torch(["check", task.name]) is task.needs_torch, task


def test_no_other_command_imports_torch_early(starts: list[ProcessTree]) -> None:
    for arguments in ([], ["check"], ["check", ""], ["check", "--help"], ["run", "01"], ["doctor"]):
        early_start.begin(arguments)
        assert early_start.take() is None
    assert starts == []


def test_check_uses_the_early_process(starts: list[ProcessTree], tmp_path: Path) -> None:
    file = tmp_path / "01_correct_first.py"
    file.write_bytes(paths.stub("01_correct_first").read_bytes())
    arguments = ["check", str(file), "agrees"]
    early_start.begin(arguments)
    assert run_grader(arguments) == 1
    assert [one.popen.poll() is not None for one in starts] == [True], "one process was started, and it has ended"


def test_a_command_that_fails_leaves_no_process() -> None:
    with nothing_left_running():
        ended = subprocess.run(command("check", "01", "--no-such-option"), cwd=ROOT, capture_output=True, check=False)
    assert ended.returncode == 2
