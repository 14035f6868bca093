"""Tiers are far from the ratios of known submissions, on this machine and on each recorded one.

These tests time nothing. `python -m grader lint --record` measured the records in `tests/records`. A ratio of code that
has changed since is not compared, and no task needs a record.
"""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from grader import catalogue
from grader.authoring import tier_records
from grader.authoring.tier_margins import MIN_DISTANCE, distance
from grader.authoring.tier_records import (
    Machine,
    Record,
    Row,
    measured_digest,
    read,
    read_all,
    right_submissions,
    tier_fault,
    tier_faults,
)
from grader.records import Cost
from grader.task import Task, Tier, tier_of

SCORES = next(task for task in catalogue.all_tasks() if task.full_name == "09_cprofile.scores")
MACHINE = Machine("A CPU (tm) 3.0", 4, "Linux 6", (("python", "3.14.1"), ("torch", "2.15.0+cpu")), 0)


def row(task: Task, name: str, ratio: float) -> Row:
    return Row(task.full_name, name, ratio, ratio, ratio, measured_digest(task, right_submissions(task)[name]))


def test_a_distance_is_the_factor_to_the_nearest_tier_minus_1() -> None:
    tiers = (Tier(1.5, 0.6), Tier(4.0, 1.0))
    found = {ratio: distance(ratio, tiers) for ratio in (1.5, 3.0, 1.0, 5.0, 40.0)}
    assert found == pytest.approx({1.5: 0, 3.0: 1 / 3, 1.0: 0.5, 5.0: 0.25, 40.0: 9.0})
    assert distance(1.0, ()) == math.inf
    assert [tier_of(ratio, tiers) for ratio in (1.49, 1.5, 3.99, 4.0, 100.0)] == [0, 1, 1, 2, 2]


def test_a_time_needs_20_percent_of_distance_and_a_count_or_memory_10() -> None:
    assert {cost for cost in Cost if MIN_DISTANCE[cost] == 0.20} == {Cost.TIME, Cost.WALL_TIME}
    assert set(MIN_DISTANCE.values()) == {0.20, 0.10}


def test_no_known_submission_changes_its_tier_or_lies_near_one_on_a_recorded_machine() -> None:
    assert [fault for held in read_all() for fault in tier_faults(held)] == []


def test_a_ratio_of_another_tier_or_near_a_tier_is_a_fault() -> None:
    assert "reaches tier 1, but the file's name states tier 0" in tier_fault(SCORES, "baseline", 2.4)
    assert "reaches tier 1, but the file's name states tier 2" in tier_fault(SCORES, "09_cprofile", 3.0)
    top = SCORES.tiers[-1].ratio
    assert (
        tier_fault(SCORES, "tier2_before_the_loop", 1.19 * top)
        == f"{1.19 * top:g}× is 19 % from the nearest tier, less than 20 %"
    )
    assert tier_fault(SCORES, "tier2_before_the_loop", 1.21 * top) == ""


def test_a_faulty_record_is_named_and_a_record_of_older_code_is_not_compared() -> None:
    faulty = row(SCORES, "median_once", 99.0)
    (found,) = tier_faults(Record(MACHINE, (row(SCORES, "baseline", 1.0), faulty)))
    assert found.startswith("a-cpu-tm-3.0-4-cores-python-3.14-torch-2.15-quiet: 09_cprofile.scores, median_once: 99×")
    old = replace(faulty, measured="0" * 12)
    assert list(tier_faults(Record(MACHINE, (old, replace(faulty, name="no longer there"))))) == []


def test_a_machine_keeps_the_rows_of_other_submissions_in_one_file_per_version_and_load(tmp_path: Path) -> None:
    tier_records.record(MACHINE, [row(SCORES, "baseline", 1.0), row(SCORES, "median_once", 2.0)], tmp_path)
    patched = replace(MACHINE, versions=(("python", "3.14.2"), ("torch", "2.15.1")))
    file = tier_records.record(patched, [row(SCORES, "median_once", 3.0)], tmp_path)
    assert read(file).machine == patched
    assert [(one.name, one.ratio) for one in read(file).rows] == [("baseline", 1.0), ("median_once", 3.0)]
    assert [one.machine for one in read_all(tmp_path)] == [patched]
    assert replace(MACHINE, busy_cores=1).name == MACHINE.name.replace("quiet", "1-busy")


@pytest.fixture
def copied(tmp_path: Path) -> Task:
    """Return the task `scores` in a new folder, where a test can change it."""
    for path in SCORES.folder.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            target = tmp_path / path.relative_to(SCORES.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return replace(SCORES, folder=tmp_path)


@pytest.mark.parametrize(
    ("file", "old", "new", "same"),
    [
        ("scores.py", "Tier(5.0, 1.0)", "Tier(6.0, 1.0)", True),
        ("scores.py", '"""Task (b)', '"""Task (B)', True),
        ("scores.py", "def _spread", "# a comment\ndef _spread", True),
        ("scores.py", "ROWS, LENGTH = 48", "ROWS, LENGTH = 47", False),
        ("known/scores/baseline.py", "x * 0.4", "x * 0.5", False),
        ("known/scores/tier1_median_once.py", "limit = 3", "limit = 4", False),
        ("known/scores/tier2_before_the_loop.py", "limits = 3", "limits = 4", True),
        ("scores.py", "def _spread", "def operations(x):\n    return 1.0\n\n\ndef _spread", True),
        ("scores.py", "allowed, large=large)", "allowed)", True),
    ],
)
def test_a_row_is_out_of_date_when_what_was_measured_changes(
    copied: Task, file: str, old: str, new: str, *, same: bool
) -> None:
    path = copied.known / "tier1_median_once.py"
    before = measured_digest(copied, path)
    text = (copied.folder / file).read_text(encoding="utf-8")
    assert old in text
    (copied.folder / file).write_text(text.replace(old, new), encoding="utf-8")
    measured_digest.cache_clear()
    assert (measured_digest(copied, path) == before) is same
