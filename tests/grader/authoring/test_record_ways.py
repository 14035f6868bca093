"""The files with other ways agree with the example submissions and with the recorded ratios."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader import catalogue
from grader.authoring import record_ways, tier_records
from grader.task import Task, tier_of
from grader.ways import TaskWays, Way, ways_of

WRITE = "run `python -m grader.authoring.record_ways`"
WAY = Way("a", "Adds.", "Short.", 3.0)


def test_the_texts_are_those_of_the_example_submissions_and_each_ratio_reaches_their_tier() -> None:
    for task in catalogue.all_tasks():
        marked = record_ways.marked(task)
        texts = {tier_records.row_name(path.stem): text for path, text in marked.items()}
        tiers = {tier_records.row_name(path.stem): int(path.stem[4]) for path in marked}
        found = ways_of(task)
        assert {way.name: (way.idea, way.trade) for way in found.ways} == texts, f"{task.full_name}: {WRITE}"
        assert len(texts) <= record_ways.MOST_WAYS
        assert all(idea and trade for idea, trade in texts.values())
        assert {way.ratio is None for way in found.ways} <= {found.reference is None}
        assert all(way.ratio is None or tier_of(way.ratio, task.tiers) == tiers[way.name] for way in found.ways)


def measured_tasks() -> Iterator[Task]:
    return (task for task in catalogue.all_tasks() if task.tiers and not task.simulated and ways_of(task).ways)


def test_all_ratios_of_a_task_were_recorded_on_one_machine() -> None:
    records = list(tier_records.read_all())
    for task in measured_tasks():
        found = ways_of(task)
        wanted = {"solution": found.reference, **{way.name: way.ratio for way in found.ways}}
        machines = [{row.name: row.ratio for row in held.rows if row.task == task.full_name} for held in records]
        assert found.reference is None or any(wanted.items() <= ratios.items() for ratios in machines), task.full_name


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


def test_without_current_ratios_a_way_has_no_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    task = next(measured_tasks())
    monkeypatch.setattr(tier_records, "read_all", lambda: iter(()))
    found = record_ways.record_ways(task)
    assert (found.place, found.reference) == ("", None)
    assert {way.name for way in found.ways} == {way.name for way in ways_of(task).ways}
    assert {way.ratio for way in found.ways} == {None}


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
