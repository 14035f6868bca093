"""`check` begins to import torch early, if the exercise on the command line needs torch."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from commanding import ROOT, command, nothing_left_running

from grader import catalogue, paths
from grader.commands.apps import run_grader
from grader.desk import early_start
from grader.isolation import sandbox
from grader.isolation.process_tree import ProcessTree
from harness.command_line.names import lesson_aliases


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
