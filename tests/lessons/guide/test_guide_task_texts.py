"""The tasks that the pack reads from the grader."""

import json
import subprocess
from typing import Any

import pytest

from harness.errors import UsageError
from lessons.guide import task_texts


def test_the_tasks_of_each_lesson_come_from_the_grader() -> None:
    (task,) = task_texts.load()["04_autorange"]
    assert task.name == "blocked_autorange"
    assert task.points == 10
    assert task.points_if_right == 4
    assert [each.points for each in task.thresholds] == [6, 8, 10]
    assert len(task.hints) == 3
    (mean,) = (wrong for wrong in task.wrong_answers if wrong.name == "mean")
    assert mean.explanation.startswith("The mean of the samples gives these wrong answers.")
    assert '"""' not in mean.code
    assert "from baseline" not in mean.code


def test_another_format_is_an_error() -> None:
    with pytest.raises(UsageError, match="has the format 0, and not 1"):
        task_texts.from_json(json.dumps({"format": 0, "tasks": []}))


def test_a_grader_that_fails_is_named_with_its_last_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(command: list[str], **_rest: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "Traceback …\nImportError: no grader\n")

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(UsageError, match=r"cannot be listed \(ImportError: no grader\)\. Run: python -m grader"):
        task_texts.load()
