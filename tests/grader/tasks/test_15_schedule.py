from importlib import import_module

import pytest

from grader.values import Value

jobs = import_module("grader.tasks.lesson_15_instruction_suite.jobs")


def plan(rows: Value, *given: tuple[int, int], cores: int = 2) -> tuple[str, float]:
    """Return the mismatch of a plan for these jobs as a text, and the end of its last job."""
    scenario = jobs.Plan("planted", list(given), cores)
    mismatch = scenario.judge(rows)
    return "" if mismatch is None else " ".join(mismatch.lines), scenario.cost


def test_the_cost_is_when_the_last_job_ends() -> None:
    assert plan([[0, [0]], [0, [1]], [3, [1, 0]]], (1, 2), (1, 3), (2, 4)) == ("", 7.0)


def test_a_job_may_begin_in_the_second_in_which_another_ends() -> None:
    assert plan([[2, [0]], [0, [0]]], (1, 5), (1, 2)) == ("", 7.0)


def test_no_jobs_are_done_at_once() -> None:
    assert plan([]) == ("", 1.0)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([[0, [0]], [1, [0]]], "jobs 0 and 1 both have core 0 in second 1"),
        ([[0, [0]]], "2 rows"),
        (None, "2 rows"),
        ({"0": [0, [0]], "1": [2, [0]]}, "2 rows"),
        ([[0, [0]], [2, [2]]], "1 different cores of 0 to 1 for job 1"),
        ([[0, [0]], [2, [0, 1]]], "1 different cores of 0 to 1 for job 1"),
        ([[0, [0]], [2, [True]]], "1 different cores"),
        ([[0, [0]], [-1, [1]]], "a start of at least 0 for job 1"),
        ([[0, [0]], ["2", [0]]], "for job 1"),
        ([[0, [0]], [float("inf"), [0]]], "for job 1"),
        ([[0, [0]], [2, 0]], "for job 1"),
    ],
)
def test_a_plan_that_breaks_a_rule_is_told_which(rows: Value, said: str) -> None:
    wrong, cost = plan(rows, (1, 2), (1, 2))
    assert said in wrong
    assert cost == jobs.NEVER_S


def test_every_job_fits_its_machine() -> None:
    for seed in range(5):
        scenarios = jobs.draw_scenarios(jobs.np.random.default_rng(seed))
        assert all(
            1 <= width <= scenario.cores and seconds >= 1 for scenario in scenarios for width, seconds in scenario.jobs
        )
