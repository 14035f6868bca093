"""The second meter of counted tasks: a count that CPU time contradicts earns what the CPU time shows."""

from collections.abc import Iterator

import pytest

from grader import catalogue
from grader.errors import WorkerFault
from grader.isolation.pool import Pool
from grader.records import Speed, Status
from grader.settings import Settings
from grader.task import CountedExam, Task
from grader.trials import cpu_time

COUNTED = [task for task in catalogue.all_tasks() if isinstance(task.exam, CountedExam)]
OF_ALL = pytest.mark.parametrize("task", COUNTED, ids=lambda task: task.full_name)
SEED = ("a secret", "ada")


@pytest.fixture(scope="module")
def settings() -> Iterator[Settings]:
    with Pool() as pool:
        yield Settings("a secret", pool)


def claimed(task: Task, ratio: float = 1e6) -> Speed:
    return Speed(ratio, ratio, ratio, rounds=1, tier=sum(ratio >= tier.ratio for tier in task.tiers))


def believed(task: Task, source: str, settings: Settings, speed: Speed) -> tuple[Speed, str]:
    assert isinstance(task.exam, CountedExam)
    return cpu_time.believed(task, task.exam, source, settings, SEED, speed)


@OF_ALL
@pytest.mark.slow
@pytest.mark.sandbox
def test_a_baseline_earns_no_tier_whatever_its_count_is_changed_to(task: Task, settings: Settings) -> None:
    speed, why = believed(task, task.baseline, settings, claimed(task))
    assert speed.tier == 0
    assert speed.ratio < task.tiers[0].ratio
    assert why.startswith("By its count it is 1 000 000× the baseline, but by CPU time ")


@OF_ALL
@pytest.mark.slow
@pytest.mark.sandbox
def test_the_reference_solution_is_believed_to_be_as_fast_as_it_was_counted(task: Task, settings: Settings) -> None:
    counted = claimed(task, task.least_gain * task.tiers[-1].ratio)
    source = catalogue.solution(task.lesson).read_text(encoding="utf-8")
    assert believed(task, source, settings, counted) == (counted, "")


def test_what_earned_no_tier_is_not_run_again(settings: Settings) -> None:
    counted = claimed(COUNTED[0], 1.01)
    assert believed(COUNTED[0], "no Python at all", settings, counted) == (counted, "")


@pytest.mark.sandbox
def test_right_answers_are_asked_for_while_cpu_time_is_taken(settings: Settings) -> None:
    task = COUNTED[0]
    lazy = f"def {task.name}(*_):\n    return []\n"
    with pytest.raises(WorkerFault, match="Right until its CPU time was taken, and wrong then") as told:
        believed(task, lazy, settings, claimed(task))
    assert told.value.status is Status.WRONG
