"""An answer earns the same points in every honest style of writing it."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import pytest
from needs import needs
from numpy.random import Generator
from restyled import NOTEBOOK, OF_FUNCTIONS, WAYS

from grader import catalogue, paths
from grader.grade import grade_task
from grader.hand_ins.collect import submission_of
from grader.hand_ins.refusal import digest
from grader.isolation.pool import Pool
from grader.records import Attempt, Cost, Status, Submission
from grader.session import Session
from grader.task import CountedExam, Scenario, SimulatedExam, Task, TensorExam
from grader.trials import cpu_time, simulated, speed, tensors
from harness.paired.decide import Rules

pytestmark = pytest.mark.long

QUICK = Rules(min_pairs=1, max_pairs=1, cap_s=2.0)
FEWEST_ROUNDS = 1
"""The number of rounds in which CPU time is measured. It is small, because each solution saves far more than its tier
needs.
"""
EACH = 3
"""Only each third scenario of a long simulated exam is played, because a style has the same effect in all scenarios."""
LONG = 18
"""The smallest number of scenarios of a long exam."""
TIMED_WAYS = 2
"""The number of styles in which a task is graded that takes seconds to grade. Different tasks get different styles. In
the other styles, only the answers are checked."""


def possible(task: Task) -> list[str]:
    """Return the styles in which a task's solution can be written."""
    defined = ast.parse(paths.solution(task.lesson).read_text(encoding="utf-8")).body
    is_function = task.name in {node.name for node in defined if isinstance(node, ast.FunctionDef)}
    return [way for way in WAYS if is_function or way not in OF_FUNCTIONS]


def ways(task: Task, number: int) -> Iterator[str]:
    """Return the styles in which a task's solution is graded: all, or a few if each takes seconds to grade."""
    if not takes_seconds(task):
        yield from possible(task)
    else:
        yield from islice(cycle(possible(task)), TIMED_WAYS * number, TIMED_WAYS * (number + 1))


def takes_seconds(task: Task) -> bool:
    """Return whether a task takes seconds to grade, because it measures time, instructions or memory."""
    return not isinstance(task.exam, SimulatedExam) and task.cost is not Cost.OPCODES


TASKS = sorted(catalogue.all_tasks(), key=takes_seconds)
TRIED = [(task, way) for number, task in enumerate(TASKS) for way in ways(task, number)]
OTHERS = [(task, way) for task in TASKS for way in possible(task) if (task, way) not in TRIED]


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """Return one session for all ways: torch is imported once and a baseline counted once. All code is the kit's."""
    with Pool(sandboxed=False) as pool, pool.one_hand_in(tensors=True) as trees:
        yield Session("restyled", trees)


def shortened(task: Task) -> Task:
    """Return the task with each third scenario, if its exam is long and judges each scenario on its own."""
    exam = task.exam
    if not isinstance(exam, SimulatedExam) or exam.together is not SimulatedExam.together:
        return task

    def some(rng: Generator) -> Sequence[Scenario]:
        scenarios = exam.scenarios(rng)
        return scenarios[:: EACH if len(scenarios) >= LONG else 1]

    return replace(task, exam=replace(exam, scenarios=some))


@pytest.mark.parametrize(
    ("task", "way"),
    [pytest.param(task, way, id=f"{task.full_name}-{way}", marks=needs(task)) for task, way in TRIED],
)
def test_an_honest_way_to_write_the_solution_earns_full_marks(
    task: Task, way: str, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "RULES", QUICK)
    monkeypatch.setattr(cpu_time, "LEAST_ROUNDS", FEWEST_ROUNDS)
    submission = restyled_solution(task, way, tmp_path)
    same_inputs = replace(submission, sha256=digest(task.name.encode()))
    verdict = grade_task(shortened(task), same_inputs, session)
    assert verdict.points == task.points, f"{submission.refusal}{verdict.attempt.rationale}\n{verdict.attempt.help}"


@pytest.mark.parametrize(
    ("task", "way"), [pytest.param(task, way, id=f"{task.full_name}-{way}", marks=needs(task)) for task, way in OTHERS]
)
def test_an_honest_way_to_write_the_solution_gives_right_answers(
    task: Task, way: str, session: Session, tmp_path: Path
) -> None:
    submission = restyled_solution(task, way, tmp_path)
    assert submission.source is not None, submission.refusal
    attempt = answered(task, submission.source, session)
    assert attempt.status is Status.PASSED, f"{attempt.rationale}\n{attempt.help}"


def restyled_solution(task: Task, way: str, folder: Path) -> Submission:
    """Return a task's solution in another style, as read from a file in `folder`."""
    source = paths.solution(task.lesson).read_text(encoding="utf-8")
    file = folder / f"{task.lesson}{'.ipynb' if way == NOTEBOOK else '.py'}"
    file.write_bytes(WAYS[way](source, [task.name]))
    return submission_of(file, student="ada", lesson=task.lesson)


def answered(task: Task, source: str, session: Session) -> Attempt:
    """Return the result of a submission whose answers are checked, and whose cost is not measured."""
    exam, seed = task.exam, ("a seed",)
    if isinstance(exam, TensorExam):
        return tensors.examine(task, exam, source, session, seed, lambda *_: Attempt(Status.PASSED))
    assert isinstance(exam, CountedExam)
    return simulated.examine(replace(task, tiers=()), SimulatedExam(exam.scenarios), source, session, seed)


def test_every_way_is_tried_of_a_timed_task_too() -> None:
    timed = {way for task, way in TRIED if task.cost is Cost.TIME}
    assert timed == set(WAYS)
    assert {way for _, way in OTHERS} == set(WAYS)
