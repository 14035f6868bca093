import statistics
from collections.abc import Sequence

import pytest
from playing import find_task, play

from grader.task import Scenario
from grader.values import Value

TASK = find_task("04_autorange", "blocked_autorange")
NOTHING = "def blocked_autorange(run, clock, min_run_time):\n    pass\n"

SHARE_OF_THE_TIME = """
import statistics


def blocked_autorange(run, clock, min_run_time):
    run(1)
    n = 1
    while (seconds := block(run, clock, n)) < min_run_time / {parts}:
        n *= 2
    n = max(1, round(n * min_run_time / {parts} / seconds))
    samples = [block(run, clock, n) / n for _ in range(max({parts}, 10) + 1)]
    low, middle, high = statistics.quantiles(samples, n=4)
    return n, samples, middle, high - low


def block(run, clock, n):
    start = clock()
    run(n)
    return clock() - start
"""


def fresh_scenario(number: int = 0) -> Scenario:
    return play(TASK, NOTHING, seed=7).scenarios[number]


def read(scenario: Scenario) -> float:
    seconds = scenario.call("clock", ())
    assert isinstance(seconds, float)
    return seconds


def measure(scenario: Scenario, block_size: int, blocks: int) -> list[float]:
    samples = []
    for _ in range(blocks):
        start = read(scenario)
        scenario.call("run", (block_size,))
        samples.append((read(scenario) - start) / block_size)
    return samples


def remark(scenario: Scenario, answer: Sequence[Value]) -> str:
    mismatch = scenario.judge(answer)
    assert mismatch is not None
    return f"{mismatch.expected} {mismatch.got} {mismatch.remark}"


def test_no_fixed_part_of_the_time_is_the_right_block_in_every_scenario() -> None:
    assert not any(play(TASK, SHARE_OF_THE_TIME.format(parts=parts), seed=0).right for parts in (10, 24, 100))


@pytest.mark.parametrize(
    "answer",
    [
        None,
        3.0,
        "abcd",
        [1, [], 1.0],
        [0, [1.0], 1.0, 0.0],
        [10**400, [1.0], 1.0, 0.0],
        [1.5, [1.0], 1.0, 0.0],
        [1, "samples", 1.0, 0.0],
        [1, [None], 1.0, 0.0],
        [10**9, [float("nan")], 1.0, 0.0],
        [10**9, [], 1.0, 0.0],
        [10**9, [1e308] * 20, None, 0.0],
        [10**9, [1e308] * 20, 1.0, 0.0],
    ],
)
def test_any_answer_is_judged_and_nonsense_is_wrong(answer: Value) -> None:
    assert fresh_scenario().judge(answer) is not None


def test_samples_that_no_block_took_are_found_out() -> None:
    scenario = fresh_scenario()
    measure(scenario, 50, 200)
    made_up = [1e-4] * 200
    assert "nearest block" in remark(scenario, [50, made_up, 1e-4, 0.0])


def test_more_samples_than_blocks_are_found_out() -> None:
    scenario = fresh_scenario()
    samples = measure(scenario, 50, 20) * 10
    assert "20 such blocks" in remark(scenario, [50, samples, statistics.median(samples), 0.0])


def test_a_median_that_is_not_the_one_of_the_samples_is_told() -> None:
    scenario = fresh_scenario()
    samples = measure(scenario, 50, 200)
    mean = statistics.fmean(samples)
    assert "This is their mean." in remark(scenario, [50, samples, mean, 0.0])


def test_every_usual_definition_of_a_quartile_is_accepted_and_half_the_iqr_is_not() -> None:
    scenario = fresh_scenario()
    scenario.call("run", (1,))
    samples = measure(scenario, 50, 200)
    median = statistics.median(samples)
    for method in ("inclusive", "exclusive"):
        low, _, high = statistics.quantiles(samples, n=4, method=method)
        assert scenario.judge([50, samples, median, high - low]) is None
    assert "IQR" in remark(scenario, [50, samples, median, (high - low) / 2])


def test_all_simulated_time_counts_the_readings_of_the_clock_included() -> None:
    scenario = fresh_scenario()
    at_first = scenario.cost
    read(scenario)
    after_reading = scenario.cost
    read(scenario)
    after_two = scenario.cost
    scenario.call("run", (1,))
    assert 0 < at_first == after_reading < after_two < scenario.cost
