"""The files with other ways agree with the example submissions and with the recorded ratios."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader import catalogue
from grader.authoring import record_ways, tier_records
from grader.errors import UsageError
from grader.task import Task, tier_of
from grader.ways import TaskWays, Way, ways_of

TASKS = [pytest.param(task, id=task.full_name) for task in catalogue.all_tasks()]
WRITE = "run `python -m grader.authoring.record_ways`"


def expected_tiers(task: Task) -> dict[str, int]:
    """Return the tier that each right example submission must reach, by its name in the records."""
    files = tier_records.right_submissions(task).values()
    return {tier_records.row_name(path.stem): int(path.stem[4]) for path in files if path.stem.startswith("tier")}


@pytest.mark.parametrize("task", TASKS)
def test_the_texts_are_those_of_the_example_submissions(task: Task) -> None:
    expected = {
        tier_records.row_name(path.stem): (idea, trade) for path, (idea, trade) in record_ways.marked(task).items()
    }
    assert {way.name: (way.idea, way.trade) for way in ways_of(task).ways} == expected, WRITE
    assert len(expected) <= record_ways.MOST_WAYS
    assert all(idea and trade for idea, trade in expected.values())


@pytest.mark.parametrize("task", TASKS)
def test_each_ratio_reaches_the_tier_in_the_name_of_the_submission(task: Task) -> None:
    found, tiers = ways_of(task), expected_tiers(task)
    assert (found.reference is None) == (not (task.tiers and found.ways))
    for way in found.ways:
        assert (way.ratio is None) == (not task.tiers)
        assert way.ratio is None or tier_of(way.ratio, task.tiers) == tiers[way.name]


def measured_tasks() -> Iterator[Task]:
    return (task for task in catalogue.all_tasks() if task.tiers and not task.simulated and ways_of(task).ways)


@pytest.mark.parametrize("task", [pytest.param(task, id=task.full_name) for task in measured_tasks()])
def test_all_ratios_of_a_task_were_recorded_on_one_machine(task: Task) -> None:
    found = ways_of(task)
    wanted = {"solution": found.reference, **{way.name: way.ratio for way in found.ways}}
    machines = [[row for row in held.rows if row.task == task.full_name] for held in tier_records.read_all()]
    assert any(wanted.items() <= {row.name: row.ratio for row in rows}.items() for rows in machines), WRITE


def test_ways_of_simulated_tasks_are_computed_again_with_the_same_ratios() -> None:
    task = next(task for task in catalogue.load().tasks("15_instruction_suite") if task.name == "schedule")
    assert record_ways.record_ways(task) == ways_of(task), WRITE


def test_the_trade_is_the_last_paragraph_of_the_docstring(tmp_path: Path) -> None:
    task = next(catalogue.all_tasks())
    folder = tmp_path / "known" / task.name
    folder.mkdir(parents=True)
    (folder / "tier3_a.py").write_text('"""Adds\nup.\n\nTrade: It is short. It\nis slow.\n"""\n', encoding="utf-8")
    (folder / "tier3_b.py").write_text('"""Trade: not a paragraph."""\n', encoding="utf-8")
    (folder / "wrong_c.py").write_text('"""Adds.\n\nTrade: None.\n"""\n', encoding="utf-8")
    found = record_ways.marked(replace(task, folder=tmp_path))
    assert found == {folder / "tier3_a.py": ("Adds up.", "It is short. It is slow.")}


def test_without_current_ratios_the_command_for_recording_them_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tier_records, "read_all", lambda: iter(()))
    with pytest.raises(UsageError, match=r"Run `python -m grader lint \w+ --record` first"):
        record_ways.record_ways(next(measured_tasks()))


def test_a_quiet_machine_is_preferred_and_then_the_newest_record(monkeypatch: pytest.MonkeyPatch) -> None:
    task = next(measured_tasks())
    names = [*(way.name for way in ways_of(task).ways), "solution"]
    files = tier_records.right_submissions(task)

    def record(cpu: str, busy_cores: int, date: str, ratio: float) -> tier_records.Record:
        versions = (("python", "3.11.7"), ("torch", "2.13.0+cpu"))
        rows = tuple(
            tier_records.Row(
                task.full_name, name, ratio, ratio, ratio, tier_records.measured_digest(task, files[name]), date
            )
            for name in names
        )
        return tier_records.Record(tier_records.Machine(f"{cpu} family 1", 2, "Linux", versions, busy_cores), rows)

    held = [
        record("Busy", 1, "2026-12-01", 10),
        record("Old", 0, "2026-10-01", 11),
        record("New", 0, "2026-11-01", 12),
    ]
    monkeypatch.setattr(tier_records, "read_all", lambda: iter(held))
    found = record_ways.record_ways(task)
    assert found.reference == 12
    assert found.place == "on a machine with New (Python 3.11.7, torch 2.13.0, 2026-11-01)"


def test_a_lesson_has_one_file_with_its_tasks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(record_ways, "file_of", lambda lesson: tmp_path / "ways" / f"{lesson}.json")
    monkeypatch.setattr(record_ways, "record_ways", lambda _task: TaskWays("here", 2.0, (WAY,)))
    written = json.loads(record_ways.write("02_timeit_vs_timer").read_text(encoding="utf-8"))
    assert list(written) == ["time_per_call", "repair"]
    assert written["repair"]["ways"] == [{"name": "a", "idea": "Adds.", "trade": "Short.", "ratio": 3.0}]


WAY = Way("a", "Adds.", "Short.", 3.0)
