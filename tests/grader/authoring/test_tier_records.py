"""Tiers are far from the ratios of known submissions, on this machine and on each recorded one.

These tests time nothing. `python -m grader lint --record` measured the records in `tests/records`. A ratio of code that
has changed since is not compared, and no task needs a record.
"""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from small_tasks import negation

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
TIERS = (Tier(1.5, 0.6), Tier(4.0, 1.0))
MACHINE = Machine("A CPU (tm) 3.0", 4, "Linux 6", (("python", "3.14.1"), ("torch", "2.15.0+cpu")), 0)


def row(task: Task, name: str, ratio: float) -> Row:
    return Row(task.full_name, name, ratio, ratio, ratio, measured_digest(task, right_submissions(task)[name]))


def test_a_distance_is_the_factor_to_the_nearest_tier_minus_1() -> None:
    found = {ratio: distance(ratio, TIERS) for ratio in (1.5, 3.0, 1.0, 5.0, 40.0)}
    assert found == pytest.approx({1.5: 0, 3.0: 1 / 3, 1.0: 0.5, 5.0: 0.25, 40.0: 9.0})
    assert distance(1.0, ()) == math.inf
    assert [tier_of(ratio, TIERS) for ratio in (1.49, 1.5, 3.99, 4.0, 100.0)] == [0, 1, 1, 2, 2]


def test_a_time_needs_20_percent_of_distance_and_a_count_or_memory_10() -> None:
    assert {cost for cost in Cost if MIN_DISTANCE[cost] == 0.20} == {Cost.TIME, Cost.WALL_TIME}
    assert set(MIN_DISTANCE.values()) == {0.20, 0.10}


def test_no_known_submission_changes_its_tier_or_lies_near_one_on_a_recorded_machine() -> None:
    assert [fault for held in read_all() for fault in tier_faults(held)] == []


def test_a_ratio_of_another_tier_or_near_a_tier_is_a_fault() -> None:
    task = replace(SCORES, tiers=TIERS)
    assert "reaches tier 1, but the file's name states tier 0" in tier_fault(task, "baseline", 2.4)
    assert "reaches tier 1, but the file's name states tier 2" in tier_fault(task, "09_cprofile", 3.0)
    assert tier_fault(task, "tier2_a", 1.19 * 4) == "4.76× is 19 % from the nearest tier, less than 20 %"
    assert tier_fault(task, "tier2_a", 1.21 * 4) == ""


def test_a_faulty_record_is_named_and_a_record_of_older_code_is_not_compared() -> None:
    faulty = row(SCORES, "baseline", 99.0)
    (found,) = tier_faults(Record(MACHINE, (row(SCORES, "solution", 1e3), faulty)))
    assert found.startswith("a-cpu-tm-3.0-4-cores-python-3.14-torch-2.15-quiet: 09_cprofile.scores, baseline: 99×")
    old = replace(faulty, measured="0" * 12)
    assert list(tier_faults(Record(MACHINE, (old, replace(faulty, name="no longer there"))))) == []


def test_a_machine_keeps_the_rows_of_other_submissions_in_one_file_per_version_and_load(tmp_path: Path) -> None:
    tier_records.record(MACHINE, [row(SCORES, "baseline", 1.0), row(SCORES, "solution", 2.0)], tmp_path)
    patched = replace(MACHINE, versions=(("python", "3.14.2"), ("torch", "2.15.1")))
    file = tier_records.record(patched, [row(SCORES, "solution", 3.0)], tmp_path)
    assert read(file).machine == patched
    assert [(one.name, one.ratio) for one in read(file).rows] == [("baseline", 1.0), ("solution", 3.0)]
    assert [one.machine for one in read_all(tmp_path)] == [patched]
    assert replace(MACHINE, busy_cores=1).name == MACHINE.name.replace("quiet", "1-busy")


SOURCES = {
    "negate.py": """'''The negative numbers.'''
from .sizes import LENGTH

def timed(rngs):
    yield from (rng.random(LENGTH) for rng in rngs)

NEGATE = Task(tiers=(Tier(5.0, 1.0),), hints=("a",), exam=TensorExam(("x",), timed, large=None))
""",
    "sizes.py": "LENGTH = 48",
    "other.py": "LENGTH = 9",
    "known/negate/tier1_a.py": "def negate(x): return -x",
    "known/negate/tier1_b.py": "def negate(x): return 0 - x",
}


@pytest.mark.parametrize(
    ("file", "old", "new", "same"),
    [
        ("negate.py", "Tier(5.0, 1.0)", "Tier(6.0, 1.0)", True),
        ("negate.py", "The negative", "All negative", True),
        ("negate.py", "def timed", "# a comment\ndef timed", True),
        ("negate.py", "def timed", "def operations(x):\n    return 1.0\n\ndef timed", True),
        ("negate.py", ", large=None", "", True),
        ("negate.py", "random(LENGTH)", "random(LENGTH + 1)", False),
        ("sizes.py", "48", "47", False),
        ("other.py", "9", "8", True),
        ("known/negate/baseline.py", "range", "reversed", False),
        ("known/negate/tier1_a.py", "-x", "x.neg()", False),
        ("known/negate/tier1_b.py", "0 - x", "-1 * x", True),
    ],
)
def test_a_row_is_out_of_date_when_what_was_measured_changes(
    tmp_path: Path, file: str, old: str, new: str, *, same: bool
) -> None:
    task = negation(tmp_path)
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = task.known / "tier1_a.py"
    before = measured_digest(task, path)
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new), encoding="utf-8")
    measured_digest.cache_clear()
    assert (measured_digest(task, path) == before) is same
