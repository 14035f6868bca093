"""The texts about other ways: read from their files, and printed with their ratios."""

import re
from pathlib import Path

import pytest

from grader import catalogue, ways
from grader.ways import TaskWays, Way

FAST = Way("einsum", "Uses einsum.", "It is hard to read.", 22.93)
PLACE = "in the simulated scenarios"


def test_the_lines_name_the_place_the_reference_and_each_ratio() -> None:
    heading = (
        "Other right ways. Their ratios were computed in the simulated scenarios. There, the reference solution has the"
        " ratio 37.7×."
    )
    lines = list(TaskWays(PLACE, 37.71, (FAST,)).lines())
    assert lines == [heading, "- 22.9×: Uses einsum. It is hard to read."]


def test_a_task_without_tiers_has_ways_without_ratios() -> None:
    found = TaskWays(ways=(Way("einsum", "Uses einsum.", "It is hard to read.", None),))
    assert list(found.lines()) == ["Other right ways:", "- Uses einsum. It is hard to read."]


def test_a_task_without_ways_has_no_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = next(catalogue.all_tasks())
    monkeypatch.setattr(ways, "FOLDER", tmp_path)
    assert list(ways.ways_of(task).lines()) == []
    ways.file_of(task.lesson).write_text("{}", encoding="utf-8")
    assert ways.ways_of(task) == TaskWays()


def test_a_student_without_the_example_submissions_has_their_texts() -> None:
    (task,) = catalogue.load().tasks("04_autorange")
    heading, *lines = ways.ways_of(task).lines()
    assert PLACE in heading
    assert len(lines) == 3
    assert any("Multiplies the runs by ten" in line for line in lines)


def test_the_heading_names_the_machine_and_the_date_of_measured_ratios() -> None:
    for task in catalogue.all_tasks():
        found = ways.ways_of(task)
        if found.place and found.place != PLACE:
            machine = r"recorded on a machine with .+ \(Python .+, torch .+, 20\d\d-\d\d-\d\d\), and not on this"
            assert re.search(machine, found.heading), task.full_name
