"""Which case an answer fails on is read from where it was written: both ends are held together here."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_tasks import hand_in, negation, search

from grader.grade import grade_task
from grader.isolation.pool import Pool
from grader.records import Attempt, Status
from grader.settings import Settings
from grader.trials import failing

FORGED = "The smallest case: of my own choosing"


@pytest.fixture(scope="module")
def settings() -> Iterator[Settings]:
    with Pool(sandboxed=False) as pool:
        yield Settings("a secret", pool)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("return abs(x)", Status.WRONG),
        (f"raise ValueError('{FORGED}')", Status.RAISED),
        ("import os; os._exit(3)", Status.CRASHED),
    ],
)
def test_the_case_of_a_tensor_task_is_found_however_it_failed(
    body: str, status: Status, tmp_path: Path, settings: Settings
) -> None:
    attempt = grade_task(negation(tmp_path), hand_in(f"def negate(x):\n    {body}\n"), settings).attempt
    assert attempt.status is status
    assert failing.case(attempt).startswith("x of shape ("), attempt
    assert "." not in failing.case(attempt)


def test_the_first_world_of_a_metered_task_is_found(tmp_path: Path, settings: Settings) -> None:
    attempt = grade_task(search(tmp_path), hand_in("def find(probe):\n    return -1\n"), settings).attempt
    assert failing.case(attempt) == "a number is hidden"


@pytest.mark.parametrize(
    "attempt",
    [
        Attempt(Status.PASSED, "Right on all 60 cases.\nThe smallest: nothing of the kind"),
        Attempt(Status.RAISED, "The file has no function negate."),
        Attempt(Status.WRONG, "Wrong over 40 simulated worlds taken together."),
        Attempt(Status.TIMED_OUT, "negate took longer than 10 s.", "Make it faster."),
    ],
)
def test_where_no_case_was_named_there_is_none(attempt: Attempt) -> None:
    assert failing.case(attempt) == ""
