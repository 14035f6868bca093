from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from playing import find_task, mistakes

from grader import overlays, paths
from grader.grade import grade_task
from grader.isolation.pool import Pool
from grader.records import Status, Submission
from grader.session import Session
from grader.task import CountedExam
from grader.tasks.plain import right_rows
from grader.values import Value

listings = import_module("grader.tasks.lesson_08_callgrind.listings")
TASK = find_task("08_callgrind", "by_function")
RIGHT = [paths.solution("08_callgrind"), *sorted(TASK.known.glob("[bt]*.py"))]
WRONG = list(TASK.wrong_answers)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Pool() as pool:
        yield Session("a secret", pool)


def mismatches(path: Path, seed: int) -> list[str]:
    return mistakes(path, "by_function", listings.draw_cases(np.random.default_rng(seed)))


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_a_right_one_is_right_whatever_is_drawn(path: Path) -> None:
    assert [mismatches(path, seed) for seed in range(10)] == [[]] * 10


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_wrong_one_is_wrong_whatever_is_drawn(path: Path) -> None:
    assert all(mismatches(path, seed) for seed in range(10))


def test_what_is_counted_is_a_listing_of_many_lines_and_fewer_functions() -> None:
    scenarios = listings.draw_counted(np.random.default_rng(5))
    assert len(scenarios) == listings.COUNTED_CALLS
    for scenario in scenarios:
        assert len(scenario.lines) == listings.COUNTED_LINES
        functions = len({line.split(" ", 1)[1] for line in scenario.lines})
        assert 0.95 * listings.COUNTED_FUNCTIONS <= functions <= listings.COUNTED_FUNCTIONS
        assert scenario.judge(right_rows(scenario)) is None


@pytest.mark.parametrize("answer", [None, "", 3, {}, [[]], [["x", 1]], [["x", 1]] * 2000, [3], "rows"])
def test_any_answer_is_judged_and_nonsense_is_wrong(answer: Value) -> None:
    assert listings.draw_counted(np.random.default_rng(5))[0].judge(answer) is not None


def test_a_total_that_is_no_whole_number_is_wrong() -> None:
    scenario = listings.draw_counted(np.random.default_rng(5))[0]
    rows = [[name, float(total)] for name, total in scenario.right]
    assert scenario.judge(rows) is not None


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.valgrind
@pytest.mark.parametrize("path", [RIGHT[0], TASK.known / "baseline.py"], ids=lambda path: path.stem)
def test_solution_and_baseline_reach_their_tiers_in_the_sandbox(path: Path, session: Session) -> None:
    """`lint` counts the other known submissions. Tests of `grader.trials.counted` show the effect of a sandbox."""
    source = overlays.whole(path)
    verdict = grade_task(TASK, Submission("ada", TASK.lesson, path.name, "0", source), session)
    assert verdict.status is Status.PASSED, verdict.attempt.rationale
    assert verdict.attempt.speed is not None
    if path.parent == paths.SOLUTIONS:
        assert verdict.attempt.speed.tier == len(TASK.tiers)
        assert verdict.attempt.speed.ratio >= TASK.least_gain * TASK.tiers[-1].ratio
    else:
        assert verdict.attempt.speed.tier == 0


def test_the_modules_named_in_the_exercise_are_those_that_are_there() -> None:
    assert isinstance(TASK.exam, CountedExam)
    told = paths.stub("08_callgrind").read_text(encoding="utf-8")
    assert all(name in told for name in TASK.exam.modules if name != "__future__")
