"""The least gains in CPU time that tiers need: no stored gain of a known submission is close to that of its tier.

These tests time nothing. `tests/benchmarks/cpu_times.py --record` measured the records.
"""

from dataclasses import replace

import pytest
from commanding import ROOT

from grader import catalogue
from grader.authoring import cpu_records, lint, tier_records
from grader.authoring.cpu_records import FOLDERS, meters
from grader.records import Cost
from grader.task import CountedExam, Task
from grader.trials.cpu_time import least_gain

COUNTED = [task for task in catalogue.all_tasks() if isinstance(task.exam, CountedExam)]
OF_ALL = pytest.mark.parametrize("task", COUNTED, ids=lambda task: task.full_name)
RECORDS = {counting: tuple(tier_records.read_all(folder)) for counting, folder in FOLDERS.items()}
PAIRS = next(task for task in COUNTED if task.name == "pairs")
README = ROOT / "grader" / "README.md"
FEWEST_VERSIONS = 2
"""The least number of Python versions on which each known submission was measured."""


@OF_ALL
def test_no_known_submission_loses_its_tier_by_its_cpu_time(task: Task) -> None:
    for counting in meters(task):
        for held in RECORDS[counting]:
            assert list(cpu_records.faults(task, held, counting=counting)) == []


@OF_ALL
def test_every_known_submission_was_measured_as_it_is_today(task: Task) -> None:
    for counting in meters(task):
        for name in tier_records.right_submissions(task):
            measured = {
                dict(held.machine.versions)["python"].rpartition(".")[0]
                for held in RECORDS[counting]
                for row, _ in cpu_records.gains(task, held)
                if row.name == name
            }
            assert len(measured) >= FEWEST_VERSIONS, f"{name}: run tests/benchmarks/cpu_times.py --record"


@OF_ALL
def test_the_needed_gains_ascend(task: Task) -> None:
    for counting in meters(task):
        needed = [least_gain(tier, counting=counting) for tier in task.tiers]
        assert needed == sorted(needed)
        assert needed[0] > 1
    assert list(lint.task_problems(task)) == []


@OF_ALL
def test_the_best_known_ratio_is_the_best_on_record(task: Task) -> None:
    assert isinstance(task.exam, CountedExam)
    files = tier_records.right_submissions(task)
    best = max(
        row.ratio
        for held in tier_records.read_all()
        for row in held.rows
        if row.task == task.full_name
        and row.name in files
        and row.measured == tier_records.measured_digest(task, files[row.name])
    )
    assert 0.9 * task.exam.best_ratio <= best <= task.exam.best_ratio


@OF_ALL
def test_the_readme_names_what_a_forged_count_can_earn(task: Task) -> None:
    cells = []
    for runs in (True, False):
        forged = cpu_records.forged_tiers(task, counter_runs=runs)
        told = ", ".join(f"{own} → {most}" for own, most in forged.items()) or "–"
        cells.append("–" if task.cost is Cost.INSTRUCTIONS and runs is False else told)
    assert f"| {task.full_name} | {' | '.join(cells)} |" in README.read_text(encoding="utf-8")


def test_a_gain_close_to_the_needed_gain_is_objected_to() -> None:
    held = next(held for held in RECORDS[False] if list(cpu_records.gains(PAIRS, held)))
    tiers = tuple(replace(tier, cpu_gain=1e4) for tier in PAIRS.tiers)
    found = list(cpu_records.faults(replace(PAIRS, tiers=tiers), held, counting=False))
    assert any("solution: the gain" in fault and "which tier 3 needs" in fault for fault in found)


def test_a_counted_task_without_needed_gains_is_a_problem() -> None:
    tiers = tuple(replace(tier, cpu_gain=0.0, counting_gain=0.0) for tier in PAIRS.tiers)
    (told,) = lint.task_problems(replace(PAIRS, tiers=tiers))
    assert told.startswith("a tier states no gain in CPU time")
