"""An answer keeps its points, however honestly it is written down."""

import ast
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import pytest
from needs import needs
from restyled import NOTEBOOK, OF_FUNCTIONS, WAYS

from grader import catalogue
from grader.grade import grade_task
from grader.hand_ins.collect import submission_of
from grader.isolation.pool import Pool
from grader.records import Cost
from grader.settings import Settings
from grader.task import MeteredExam, Task
from grader.trials import speed
from harness.decide import Rules

pytestmark = pytest.mark.slow

QUICK = Rules(min_pairs=1, max_pairs=1, cap_s=2.0)
TIMED_WAYS = 2
"""Ways tried of a task whose grading takes seconds: each task has others."""


def ways(task: Task, number: int) -> Iterator[str]:
    """Name the ways in which a task's solution is written: all that it has, or some where each takes seconds."""
    defined = ast.parse(catalogue.solution(task.lesson).read_text(encoding="utf-8")).body
    is_function = task.name in {node.name for node in defined if isinstance(node, ast.FunctionDef)}
    possible = [way for way in WAYS if is_function or way not in OF_FUNCTIONS]
    if not takes_seconds(task):
        yield from possible
    else:
        yield from islice(cycle(possible), TIMED_WAYS * number, TIMED_WAYS * (number + 1))


def takes_seconds(task: Task) -> bool:
    """Whether grading it takes seconds, because it is timed, or counted in instructions or memory."""
    return not isinstance(task.exam, MeteredExam) and task.cost is not Cost.OPCODES


TASKS = sorted(catalogue.all_tasks(), key=takes_seconds)
TRIED = [(task, way) for number, task in enumerate(TASKS) for way in ways(task, number)]


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(sandboxed=False) as one:
        yield one


@pytest.mark.parametrize(
    ("task", "way"),
    [pytest.param(task, way, id=f"{task.full_name}-{way}", marks=needs(task)) for task, way in TRIED],
)
def test_an_honest_way_to_write_the_solution_earns_full_marks(
    task: Task, way: str, pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "RULES", QUICK)
    source = catalogue.solution(task.lesson).read_text(encoding="utf-8")
    file = tmp_path / f"{task.lesson}{'.ipynb' if way == NOTEBOOK else '.py'}"
    file.write_bytes(WAYS[way](source, [task.name]))
    submission = submission_of(file, student="ada", lesson=task.lesson)
    verdict = grade_task(task, submission, Settings("restyled", pool))
    assert verdict.points == task.points, f"{submission.refusal}{verdict.attempt.rationale}\n{verdict.attempt.help}"


def test_every_way_is_tried_of_a_timed_task_too() -> None:
    timed = {way for task, way in TRIED if task.cost is Cost.TIME}
    assert timed == set(WAYS)
