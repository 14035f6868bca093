"""The least gains in CPU time that tiers need: no stored gain of a known submission is close to that of its tier.

These tests time nothing. `tests/benchmarks/cpu_times.py --record` measured the records.
"""

from dataclasses import replace
from functools import cache
from itertools import chain

from commanding import ROOT

from grader import catalogue
from grader.authoring import cpu_records, lint, tier_records
from grader.authoring.cpu_records import FOLDERS, meters
from grader.authoring.tier_records import Record, Row
from grader.records import Cost
from grader.task import CountedExam, Task
from grader.trials.cpu_time import least_gain

COUNTED = [task for task in catalogue.all_tasks() if isinstance(task.exam, CountedExam)]
PAIRS = next(task for task in COUNTED if task.name == "pairs")
README = ROOT / "grader" / "README.md"


@cache
def records(*, counting: bool) -> tuple[Record, ...]:
    return tuple(tier_records.read_all(FOLDERS[counting]))


def test_no_known_submission_loses_its_tier_by_its_cpu_time() -> None:
    for task in COUNTED:
        for counting in meters(task):
            found = (cpu_records.faults(task, held, counting=counting) for held in records(counting=counting))
            assert list(chain.from_iterable(found)) == []


def test_the_needed_gains_ascend() -> None:
    for task in COUNTED:
        for counting in meters(task):
            needed = [least_gain(tier, counting=counting) for tier in task.tiers]
            assert needed == sorted(needed), task.full_name
            assert needed[0] > 1, task.full_name


def test_the_best_known_ratio_is_the_best_recorded_one() -> None:
    for task in COUNTED:
        assert isinstance(task.exam, CountedExam)
        rows = [row for held in tier_records.read_all() for row, _ in tier_records.current(task, held)]
        best = max((row.ratio for row in rows), default=task.exam.best_ratio)
        assert 0.9 * task.exam.best_ratio <= best <= task.exam.best_ratio, task.full_name


def fully_recorded(task: Task) -> bool:
    """Return whether the present code of all right submissions of a task has stored gains."""
    recorded = [
        {row.name for held in records(counting=counting) for row, _ in cpu_records.gains(task, held)}
        for counting in meters(task)
    ]
    return all(names == tier_records.right_submissions(task).keys() for names in recorded)


def test_the_readme_names_what_a_forged_count_can_earn() -> None:
    missing = []
    for task in filter(fully_recorded, COUNTED):
        cells = []
        for runs in (True, False):
            forged = cpu_records.forged_tiers(task, counter_runs=runs)
            told = ", ".join(f"{own} → {most}" for own, most in forged.items()) or "–"
            cells.append("–" if task.cost is Cost.INSTRUCTIONS and runs is False else told)
        line = f"| {task.full_name} | {' | '.join(cells)} |"
        missing += [] if line in README.read_text(encoding="utf-8") else [line]
    assert missing == []


def test_a_gain_close_to_the_needed_gain_is_a_fault() -> None:
    file = tier_records.right_submissions(PAIRS)["solution"]
    row = Row(PAIRS.full_name, "solution", 50, 50, 50, tier_records.measured_digest(PAIRS, file))
    held = Record(records(counting=False)[0].machine, (row,))

    def faults(needed: float) -> list[str]:
        tiers = tuple(replace(tier, cpu_gain=needed) for tier in PAIRS.tiers)
        return list(cpu_records.faults(replace(PAIRS, tiers=tiers), held, counting=False))

    assert faults(50 / 1.21) == []
    (fault,) = faults(50 / 1.19)
    assert "solution: the gain 50 is less than 1.2 times" in fault


def test_a_counted_task_without_needed_gains_is_a_problem() -> None:
    tiers = tuple(replace(tier, cpu_gain=0.0, counting_gain=0.0) for tier in PAIRS.tiers)
    (told,) = lint.task_problems(replace(PAIRS, tiers=tiers))
    assert told.startswith("a tier states no gain in CPU time")
