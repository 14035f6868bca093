"""The texts of tasks for the teacher's pack."""

import json

import pytest

from grader import catalogue
from grader.authoring import task_texts


def test_every_task_is_printed_with_its_wrong_answers(capsys: pytest.CaptureFixture[str]) -> None:
    task_texts.main()
    printed = json.loads(capsys.readouterr().out)
    assert printed["format"] == task_texts.FORMAT
    tasks = list(catalogue.all_tasks())
    assert [(each["lesson"], each["name"]) for each in printed["tasks"]] == [(task.lesson, task.name) for task in tasks]
    for each, task in zip(printed["tasks"], tasks, strict=True):
        assert len(each["wrong_answers"]) == len(task.wrong_answers)
        assert len(each["thresholds"]) == len(task.tiers)
        assert max(row["points"] for row in [*each["thresholds"], {"points": each["points_if_right"]}]) == task.points
        for wrong in each["wrong_answers"]:
            assert wrong["explanation"]
            compile(wrong["code"], wrong["name"], "exec")
