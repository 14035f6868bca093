from importlib import import_module

import numpy as np
import pytest
from playing import find_task

from grader import paths
from grader.grade import grade_task
from grader.isolation.pool import Pool
from grader.records import Submission
from grader.session import Session

listings = import_module("grader.tasks.lesson_08_callgrind.by_function")
TASK = find_task("08_callgrind", "by_function")


def test_a_total_that_is_no_whole_number_is_wrong() -> None:
    scenario = listings.draw_timed(np.random.default_rng(5))[0]
    rows = [[name, float(total)] for name, total in scenario.right]
    assert scenario.judge(rows) is not None


@pytest.mark.long
@pytest.mark.sandbox
def test_the_solution_earns_all_points_in_the_sandbox() -> None:
    source = paths.solution(TASK.lesson).read_text(encoding="utf-8")
    with Pool() as pool:
        verdict = grade_task(TASK, Submission("ada", TASK.lesson, "a.py", "0", source), Session("a secret", pool))
    assert verdict.points == TASK.points, verdict.attempt
