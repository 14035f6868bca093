"""The planted submissions of the benchmark on physical limits, and its file and table."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import limits
import numpy as np
import pytest
from limits import PLANTED, Graded, read, report, same_input_each_time, sources, timed_tasks

from grader.seeds import generator, independent
from grader.task import Task, TensorExam
from grader.trials import native
from grader.trials.turns import Supply

TASKS = timed_tasks()


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.full_name)
def test_the_planted_submission_answers_timed_inputs_from_memory_and_computes_all_others(task: Task) -> None:
    if native.is_native(task) and native.compiler() is None:
        pytest.skip("needs a C compiler")
    import torch

    function = loaded(task, sources(task)[PLANTED])
    exam = task.exam
    assert isinstance(exam, TensorExam)
    case = max(exam.cases(generator("a")), key=lambda arrays: sum(array.size for array in arrays))
    other = tuple(np.flip(array).copy() for array in case)
    for inputs in (case, other):
        answer = function(*(torch.from_numpy(array.copy()) for array in inputs)).numpy()
        assert np.allclose(answer, exam.oracle(*inputs), rtol=1e-3, atol=1e-3, equal_nan=True)
    for timed in filter(None, (exam.timed, exam.large)):
        function = loaded(task, sources(task)[PLANTED])
        drawn = timed(independent(generator("a")))
        first, second = (function(*map(torch.from_numpy, next(drawn))) for _ in range(2))
        assert torch.equal(first, second)


def loaded(task: Task, source: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    text = native.built(task, source, native.LocalPlace()).timed
    exec(compile(text, task.name, "exec"), names)  # noqa: S102 - known submissions of the project
    function: Callable[..., Any] = names[task.name]
    return function


def test_inside_the_block_all_inputs_are_the_same_and_after_it_they_are_new() -> None:
    exam = TASKS[0].exam
    assert isinstance(exam, TensorExam)
    supply = Supply(exam, generator("a"))
    with same_input_each_time():
        assert supply.draw(2) == [supply.first, supply.first]
    first, second = supply.draw(2)
    assert supply.first not in (first, second)


def graded(name: str, status: str = "passed", share: float | None = 0.1, number: int = 0) -> Graded:
    return Graded("01.f", name, number, status, 3.0, share, "Right.")


def test_the_table_has_the_largest_share_and_counts_impossible_times() -> None:
    rows = report(
        [
            graded("slow"),
            graded("solution", share=0.4),
            graded("solution", "impossible time", share=None, number=1),
            graded(PLANTED, "impossible time", share=90.0),
            graded(PLANTED, "passed", share=2.0, number=5),
        ]
    ).rows
    assert rows == (("01.f", 3, 1, 0.4, "solution", 2, 1),)


def test_a_run_continues_after_a_line_that_was_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, made = tmp_path / "limits.jsonl", []

    def grade(task: Task, name: str, _source: str, number: int, _pool: object) -> Graded:
        made.append((name, number))
        return Graded(task.full_name, name, number, "passed", 2.0, 0.5, "")

    monkeypatch.setattr(limits, "grade", grade)
    monkeypatch.setattr(limits, "sources", lambda _task: {"solution": "", PLANTED: ""})
    limits.run(file, TASKS[:1], 2, 60.0, None)  # type: ignore[arg-type]
    assert made == [("solution", 0), (PLANTED, 0), ("solution", 1)]
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole[:-5], encoding="utf-8")
    limits.run(file, TASKS[:1], 3, 60.0, None)  # type: ignore[arg-type]
    assert made[3:] == [("solution", 1), ("solution", 2)]
    assert [(one.name, one.number) for one in read(file)] == [
        ("solution", 0),
        (PLANTED, 0),
        ("solution", 1),
        ("solution", 2),
    ]
