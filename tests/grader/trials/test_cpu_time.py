"""The CPU time of counted tasks: if it contradicts a count, the submission gets the tier of its CPU time."""

from collections.abc import Iterator

import pytest

from grader import catalogue, paths
from grader.errors import WorkerFault
from grader.isolation.pool import Pool
from grader.records import Speed, Status
from grader.session import Session
from grader.task import CountedExam, Task
from grader.trials import cpu_time

COUNTED = [task for task in catalogue.all_tasks() if isinstance(task.exam, CountedExam)]
OF_ALL = pytest.mark.parametrize("task", COUNTED, ids=lambda task: task.full_name)
SEED = ("a secret", "ada")


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Pool() as pool:
        yield Session("a secret", pool)


def claimed(task: Task, ratio: float = 1e6) -> Speed:
    return Speed(ratio, ratio, ratio, rounds=1, tier=sum(ratio >= tier.ratio for tier in task.tiers))


def believed(task: Task, source: str, session: Session, speed: Speed) -> tuple[Speed, str]:
    assert isinstance(task.exam, CountedExam)
    return cpu_time.believed(task, task.exam, source, session, SEED, speed)


@OF_ALL
@pytest.mark.slow
@pytest.mark.sandbox
def test_a_baseline_earns_no_tier_whatever_its_count_is_changed_to(
    task: Task, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu_time, "MOST_ROUNDS", 4)  # the ratio of CPU times is 1, also after more rounds
    speed, why = believed(task, task.baseline, session, claimed(task))
    assert speed.tier == 0
    assert speed.ratio < task.tiers[0].ratio
    assert why.startswith("The ratio of counts is 1 000 000×, but the ratio of CPU times is only ")


@OF_ALL
@pytest.mark.slow
@pytest.mark.sandbox
def test_the_reference_solution_is_believed_to_be_as_fast_as_it_was_counted(task: Task, session: Session) -> None:
    counted = claimed(task, task.least_gain * task.tiers[-1].ratio)
    source = paths.solution(task.lesson).read_text(encoding="utf-8")
    assert believed(task, source, session, counted) == (counted, "")


def test_what_earned_no_tier_is_not_run_again(session: Session) -> None:
    counted = claimed(COUNTED[0], 1.01)
    assert believed(COUNTED[0], "no Python at all", session, counted) == (counted, "")


@pytest.mark.sandbox
def test_right_answers_are_asked_for_while_cpu_time_is_taken(session: Session) -> None:
    task = COUNTED[0]
    lazy = f"def {task.name}(*_):\n    return []\n"
    with pytest.raises(WorkerFault, match="wrong when CPU time was measured") as told:
        believed(task, lazy, session, claimed(task))
    assert told.value.status is Status.WRONG
