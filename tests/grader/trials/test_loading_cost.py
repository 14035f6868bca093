"""The count of loading a submission's file: it costs no tier."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from test_counted import BASELINE, FORMULA, ratio, run, task

from grader.errors import WorkerFault
from grader.isolation.pool import Pool
from grader.records import Cost, Status
from grader.session import Session
from grader.task import Task
from grader.trials import loading_cost
from grader.trials.counted_process import Count, count

__all__ = ["task"]

LOADS = "for each in range(20_000):\n    known = each\n"
"""Code that executes more opcodes than the baseline."""


@pytest.fixture
def opcodes(task: Task) -> Task:
    return replace(task, cost=Cost.OPCODES)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Pool(sandboxed=False) as pool:
        yield Session("a secret", pool)


def test_a_file_that_takes_long_to_load_earns_the_tier_of_its_calls(opcodes: Task, session: Session) -> None:
    attempt = run(opcodes, LOADS + FORMULA, session)
    assert attempt.speed is not None
    assert attempt.speed.tier == 1
    assert attempt.speed.ratio < ratio(opcodes, FORMULA, session) / 10, "loading is a small cost, but not free"


def test_calls_that_take_long_gain_nothing(opcodes: Task, session: Session) -> None:
    assert ratio(opcodes, LOADS + BASELINE, session) < 1


def test_on_a_machine_too_busy_for_a_second_count_the_first_one_counts(
    opcodes: Task, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(task: Task, session: Session, given: Mapping[str, Any], *, by_valgrind: bool) -> Count:
        if len(given["calls"]) > 2:
            raise WorkerFault(Status.TIMED_OUT, "no answer")
        return count(task, session, given, by_valgrind=by_valgrind)

    monkeypatch.setattr(loading_cost, "count", busy)
    assert ratio(opcodes, LOADS + FORMULA, session) < 2


def test_wrong_answers_in_the_second_count_are_found(opcodes: Task, session: Session) -> None:
    tired = f"calls = []\n{LOADS}{FORMULA.replace('return', 'calls.append(1); return len(calls) < 5 and')}"
    with pytest.raises(WorkerFault, match="wrong when the cost was measured"):
        run(opcodes, tired, session)


@pytest.mark.parametrize(
    ("mine", "loaded", "times"),
    [
        (100, 0, 1),
        (100, 10, 1),  # 90 of 1000 reach the same tier as 100
        (110, 90, 10),
        (600, 550, 10),
        (600, 350, 4),  # 250 gives the lower tier, and four times 250 is as much as the baseline
        (2000, 1000, 1),
        (2000, 2000, 1),
        (2000, 2100, 1),
    ],
)
def test_a_second_count_takes_no_more_work_than_the_baseline(task: Task, mine: int, loaded: int, times: int) -> None:
    assert loading_cost.times_as_many(task, mine, loaded, baseline=1000) == times
