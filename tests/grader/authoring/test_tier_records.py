"""Every recorded ratio of a known submission is far from every tier, so its grade is the same on each machine.

These tests time nothing. `python -m grader lint --record` measured the records in `tests/records`.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from grader import catalogue
from grader.authoring import tier_records
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
from grader.task import Task, Tier

RECORDS = tuple(read_all())
TIERED = [task for task in catalogue.all_tasks() if task.tiers and not task.simulated]
SCORES = next(task for task in TIERED if task.full_name == "09_cprofile.scores")
MACHINE = Machine("A CPU (tm) 3.0", 4, "Linux 6", (("python", "3.14.1"), ("torch", "2.15.0+cpu")), 0)
FEWEST_MACHINES = 3
"""The least number of machines, with different Python or torch, on which each known submission was measured."""


def row(task: Task, name: str, ratio: float) -> Row:
    return Row(task.full_name, name, ratio, ratio, ratio, measured_digest(task, right_submissions(task)[name]))


@pytest.mark.parametrize("held", RECORDS, ids=lambda held: held.machine.name)
def test_no_known_submission_changes_its_tier_or_lies_near_one_on_a_machine_on_record(held: Record) -> None:
    assert list(tier_faults(held)) == []


@pytest.mark.parametrize("task", TIERED, ids=lambda task: task.full_name)
def test_every_known_submission_was_measured_as_it_is_today_on_several_versions(task: Task) -> None:
    for name, path in right_submissions(task).items():
        machines = {
            held.machine.versions
            for held in RECORDS
            for one in held.rows
            if (one.task, one.name) == (task.full_name, name) and one.measured == measured_digest(task, path)
        }
        assert len(machines) >= FEWEST_MACHINES, f"{path}: run python -m grader lint {task.lesson} --record"


def test_a_ratio_that_reaches_another_tier_is_objected_to() -> None:
    assert "reaches tier 1, but the file's name states tier 0" in tier_fault(SCORES, "baseline", 2.4)
    assert "reaches tier 1, but the file's name states tier 2" in tier_fault(SCORES, "tier2_before_the_loop", 3.0)
    assert "reaches tier 1, but the file's name states tier 2" in tier_fault(SCORES, "09_cprofile", 3.0)


def test_a_ratio_near_a_tier_is_objected_to_though_its_tier_is_right() -> None:
    top = SCORES.tiers[-1].ratio
    assert (
        tier_fault(SCORES, "tier2_before_the_loop", 1.19 * top)
        == f"{1.19 * top:g}× is 19 % from the nearest tier, less than 20 %"
    )
    assert tier_fault(SCORES, "tier2_before_the_loop", 1.21 * top) == ""


def test_a_planted_record_that_another_tier_would_break_is_found() -> None:
    held = Record(MACHINE, (row(SCORES, "baseline", 1.0), row(SCORES, "median_once", 99.0)))
    (found,) = tier_faults(held)
    assert found.startswith("a-cpu-tm-3.0-4-cores-python-3.14-torch-2.15-quiet: 09_cprofile.scores, median_once: 99×")


def test_a_row_of_code_that_has_changed_since_says_nothing() -> None:
    old = replace(row(SCORES, "median_once", 99.0), measured="0" * 12)
    assert list(tier_faults(Record(MACHINE, (old, replace(old, name="no longer there"))))) == []


def test_what_was_recorded_is_read_again_and_rows_of_other_submissions_stay(tmp_path: Path) -> None:
    tier_records.record(MACHINE, [row(SCORES, "baseline", 1.0), row(SCORES, "median_once", 2.0)], tmp_path)
    file = tier_records.record(MACHINE, [row(SCORES, "median_once", 3.0)], tmp_path)
    held = read(file)
    assert held.machine == MACHINE
    assert [(one.name, one.ratio) for one in held.rows] == [("baseline", 1.0), ("median_once", 3.0)]
    assert [one.machine for one in read_all(tmp_path)] == [MACHINE]


def test_patch_releases_share_a_file_and_a_busy_machine_has_its_own() -> None:
    assert replace(MACHINE, versions=(("python", "3.14.2"), ("torch", "2.15.1"))).name == MACHINE.name
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
        ("scores.py", "Profile plain(x)", "Profile it", True),
        ("scores.py", "# ", "#  ", True),
        ("scores.py", "ROWS, LENGTH = 48", "ROWS, LENGTH = 47", False),
        ("known/scores/baseline.py", "x * 0.4", "x * 0.5", False),
        ("known/scores/tier1_median_once.py", "limit = 3", "limit = 4", False),
        ("known/scores/tier2_before_the_loop.py", "limits = 3", "limits = 4", True),
        ("own_time.py", "Tier(1.25", "Tier(1.5", True),
        ("scores.py", "def _spread", "def operations(x):\n    return 1.0\n\n\ndef _spread", True),
        ("scores.py", "oracle, allowed, large", "oracle, allowed, operations=operations, large", True),
        ("scores.py", "allowed, large=large)", "allowed)", True),
        ("scores.py", "16 * LENGTH", "32 * LENGTH", True),
    ],
)
def test_a_row_is_out_of_date_when_what_was_measured_changes(
    copied: Task, file: str, old: str, new: str, *, same: bool
) -> None:
    path = copied.known / "tier1_median_once.py"
    before = measured_digest(copied, path)
    text = (copied.folder / file).read_text(encoding="utf-8")
    if "# " not in old:
        assert old in text
    (copied.folder / file).write_text(text.replace(old, new), encoding="utf-8")
    measured_digest.cache_clear()
    assert (measured_digest(copied, path) == before) is same


def test_tiers_of_a_task_do_not_change_what_was_measured() -> None:
    path = SCORES.known / "tier1_median_once.py"
    assert measured_digest(replace(SCORES, tiers=(Tier(9.0, 1.0),)), path) == measured_digest(SCORES, path)
