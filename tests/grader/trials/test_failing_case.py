"""Reports read the failing case from the rationale that grading wrote. These tests run writer and reader."""

from pathlib import Path

import pytest
from small_tasks import hand_in, negation, search
from trees import BARE

from grader.grade import grade_task
from grader.records import Attempt, Status
from grader.trials import failing_case

FORGED = "The smallest case: of my own choosing"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("return abs(x)", Status.WRONG),
        (f"raise ValueError('{FORGED}')", Status.RAISED),
        ("import os; os._exit(3)", Status.CRASHED),
    ],
)
def test_the_case_of_a_tensor_task_is_found_however_it_failed(body: str, status: Status, tmp_path: Path) -> None:
    attempt = grade_task(negation(tmp_path), hand_in(f"def negate(x):\n    {body}\n"), BARE).attempt
    assert attempt.status is status
    assert failing_case.named_in(attempt).startswith("x of shape ("), attempt
    assert "." not in failing_case.named_in(attempt)


def test_the_first_scenario_of_a_simulated_task_is_found(tmp_path: Path) -> None:
    attempt = grade_task(search(tmp_path), hand_in("def find(probe):\n    return -1\n"), BARE).attempt
    assert failing_case.named_in(attempt) == "a number is hidden"


@pytest.mark.parametrize(
    "attempt",
    [
        Attempt(Status.PASSED, "Right on all 60 cases.\nThe smallest: not a case"),
        Attempt(Status.RAISED, "The file has no function negate."),
        Attempt(Status.WRONG, "Wrong over all 40 simulated scenarios together."),
        Attempt(Status.TIMED_OUT, "negate took longer than 10 s.", "Make it faster."),
    ],
)
def test_where_no_case_was_named_there_is_none(attempt: Attempt) -> None:
    assert failing_case.named_in(attempt) == ""
