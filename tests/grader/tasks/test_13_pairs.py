import dis
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
from grader.tasks.plain import right_rows
from grader.trials import cpu_time
from grader.values import Value

traces = import_module("grader.tasks.lesson_13_bytecode.traces")
TASK = find_task("13_bytecode", "pairs")
RIGHT = [paths.solution("13_bytecode"), *sorted(TASK.known.glob("[bt]*.py"))]
WRONG = list(TASK.wrong_answers)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Pool() as pool:
        yield Session("a secret", pool)


def mismatches(path: Path, seed: int) -> list[str]:
    return mistakes(path, "pairs", traces.draw_cases(np.random.default_rng(seed)))


def test_traces_hold_opcodes_of_the_python_that_runs() -> None:
    assert [name for name in traces.NAMES if name not in dis.opmap] == []
    assert len(set(traces.NAMES)) == len(traces.NAMES)


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_a_right_one_is_right_whatever_is_drawn(path: Path) -> None:
    assert [mismatches(path, seed) for seed in range(10)] == [[]] * 10


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_wrong_one_is_wrong_whatever_is_drawn(path: Path) -> None:
    assert all(mismatches(path, seed) for seed in range(10))


def test_what_is_counted_is_a_long_trace_of_few_pairs() -> None:
    for scenario in traces.draw_counted(np.random.default_rng(5)):
        assert len(scenario.trace) == traces.COUNTED_LENGTH
        assert len(scenario.right) < traces.COUNTED_LENGTH / 15
        assert scenario.judge(right_rows(scenario)) is None


@pytest.mark.parametrize("answer", [None, "", 3, {}, [[]], [["x", "y", 1]], [["x", "y", 1]] * 2000, [3], "rows"])
def test_any_answer_is_judged_and_nonsense_is_wrong(answer: Value) -> None:
    assert traces.draw_counted(np.random.default_rng(5))[0].judge(answer) is not None


def test_a_number_of_times_that_is_no_whole_number_is_wrong() -> None:
    scenario = traces.draw_counted(np.random.default_rng(5))[0]
    assert scenario.judge([[first, second, float(times)] for first, second, times in scenario.right]) is not None


@pytest.mark.sandbox
@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_each_known_one_reaches_the_tier_of_its_name_in_the_sandbox(
    path: Path, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu_time, "LEAST_ROUNDS", 1)  # each submission saves far more CPU time than its tier requires
    source = overlays.whole(path)
    verdict = grade_task(TASK, Submission("ada", TASK.lesson, path.name, "0", source), session)
    assert verdict.status is Status.PASSED, verdict.attempt.rationale
    assert verdict.attempt.speed is not None
    expected = int(path.stem[4]) if path.stem.startswith("tier") else 0
    if path.parent == paths.SOLUTIONS:
        expected = len(TASK.tiers)
        assert verdict.attempt.speed.ratio >= TASK.least_gain * TASK.tiers[-1].ratio
    assert verdict.attempt.speed.tier == expected
