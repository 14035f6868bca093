"""An answer earns full marks in every honest style of writing it. Each style is tried on one task of each kind."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from needs import needs
from playing import find_task, is_right
from restyled import NOTEBOOK, OF_FUNCTIONS, WAYS

from grader import catalogue, paths
from grader.grade import grade_task
from grader.hand_ins.collect import submission_of
from grader.hand_ins.refusal import digest
from grader.isolation.pool import Pool
from grader.records import Cost, Submission
from grader.session import Session
from grader.task import Task, TensorExam
from grader.trials import cpu_time, speed
from harness.paired.decide import Rules

QUICK = Rules(min_pairs=1, max_pairs=1, cap_s=2.0)
SIMULATED = ("repair", "races", "expand")
EXPENSIVE = ("nearest", "by_function", "checksum")
"""Tasks that measure memory, count instructions, or compile C."""


def tried() -> Iterator[tuple[Task, str]]:
    """Yield pairs of a task and a style: for each style, a task of each kind. Different styles get different tasks."""
    named = {task.name: task for task in catalogue.all_tasks()}
    timed = [one for one in named.values() if isinstance(one.exam, TensorExam) and one.name not in EXPENSIVE]
    counted = [one for one in named.values() if one.cost is Cost.OPCODES]
    for number, way in enumerate(WAYS):
        names = (SIMULATED[number % 3], EXPENSIVE[number % 3])
        for task in (counted[number % len(counted)], timed[number % len(timed)], *(named[name] for name in names)):
            if is_function(task) or way not in OF_FUNCTIONS:
                yield task, way


def is_function(task: Task) -> bool:
    """Return whether the solution of a task is a Python function with the task's name."""
    defined = ast.parse(paths.solution(task.lesson).read_text(encoding="utf-8")).body
    return task.name in {node.name for node in defined if isinstance(node, ast.FunctionDef)}


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """Return one session for all ways: torch is imported once and a baseline counted once. All code is the kit's."""
    with Pool(sandboxed=False) as pool, pool.one_hand_in(tensors=True) as trees:
        yield Session("restyled", trees)


def test_each_way_is_read_and_gives_right_answers(tmp_path: Path) -> None:
    task = find_task("18_threads", "races")
    for way in WAYS:
        submission = restyled_solution(task, way, tmp_path)
        assert submission.source is not None, submission.refusal
        assert is_right(task, submission.source), way


@pytest.mark.long
@pytest.mark.parametrize(
    ("task", "way"),
    [pytest.param(task, way, id=f"{task.full_name}-{way}", marks=needs(task)) for task, way in tried()],
)
def test_an_honest_way_to_write_the_solution_earns_full_marks(
    task: Task, way: str, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "RULES", QUICK)
    monkeypatch.setattr(cpu_time, "LEAST_ROUNDS", 1)  # each solution saves far more than its tier needs
    submission = restyled_solution(task, way, tmp_path)
    same_inputs = replace(submission, sha256=digest(task.name.encode()))
    verdict = grade_task(task, same_inputs, session)
    assert verdict.points == task.points, f"{submission.refusal}{verdict.attempt.rationale}\n{verdict.attempt.help}"


def restyled_solution(task: Task, way: str, folder: Path) -> Submission:
    """Return a task's solution in another style, as read from a file in `folder`."""
    source = paths.solution(task.lesson).read_text(encoding="utf-8")
    file = folder / f"{task.lesson}{'.ipynb' if way == NOTEBOOK else '.py'}"
    file.write_bytes(WAYS[way](source, [task.name]))
    return submission_of(file, student="ada", lesson=task.lesson)
