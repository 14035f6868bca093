"""The simulated machines of lessons 02 to 04: what a method may rely on, and which answers are found out."""

import statistics
import time
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np
import pytest
from measuring import fixed_blocks, launches
from playing import find_task, play

from grader import paths
from grader.task import Scenario, SimulatedExam, Task
from grader.tasks.plain import PlainScenario
from grader.tasks.simulated import STANDSTILL, LateWeather, Machine, Weather, stratified
from grader.values import Value
from harness.machine import clocks
from harness.machine.devices import SimulatedStream

CALLS = find_task("02_timeit_vs_timer", "time_per_call")
REPAIR = find_task("02_timeit_vs_timer", "repair")
LAUNCHES = find_task("03_cuda_sync", "time_async")
RUNS = find_task("04_autorange", "blocked_autorange")

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


def fresh(task: Task, title: str) -> Scenario:
    assert isinstance(task.exam, SimulatedExam)
    return next(each for each in task.exam.scenarios(np.random.default_rng(4)) if each.title == title)


def took(scenario: Scenario, *calls: str, arguments: Sequence[Value] = ()) -> float:
    start_s = scenario.call("clock", ())
    for name in calls:
        scenario.call(name, arguments)
    end_s = scenario.call("clock", ())
    assert isinstance(start_s, float)
    assert isinstance(end_s, float)
    return end_s - start_s


@pytest.mark.parametrize(
    ("task", "sources"),
    [
        (CALLS, [fixed_blocks(calls, 4) for calls in (5, 200)]),
        (LAUNCHES, [launches(number, 5, "min(times)") for number in (16, 256)]),
        (RUNS, [SHARE_OF_THE_TIME.format(parts=parts) for parts in (10, 24, 100)]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_no_fixed_block_is_right_in_every_scenario(task: Task, sources: Sequence[str]) -> None:
    assert not any(play(task, source, seed=0).right for source in sources)


def test_every_stage_of_a_search_that_doubles_is_interrupted_in_some_scenario_of_every_exam() -> None:
    """Otherwise a search that one interrupted block misleads would earn all points or none by luck."""
    for seed in range(4):
        scenarios = play(CALLS, "def time_per_call(fn, clock):\n    pass\n", seed).scenarios
        slow_clock = [scenario for scenario in scenarios if "clock that takes long" in scenario.title]
        first = [getattr(scenario, "interrupted") - 3 for scenario in slow_clock]  # noqa: B009 - not in the protocol
        assert all(any(low <= call < 2 * low for call in (one + 1 for one in first)) for low in (1, 2, 4, 8, 16))


def test_an_interruption_hits_the_call_that_was_drawn_for_it() -> None:
    scenario = fresh(CALLS, "a short call, interrupted now and then")
    interrupted = getattr(scenario, "interrupted")  # noqa: B009 - not in the protocol
    times_s = [took(scenario, "fn") for _ in range(interrupted + 2)]
    assert times_s[interrupted] > 10 * times_s[interrupted + 1]
    assert scenario.cost == interrupted + 2


def test_a_launch_returns_at_once_until_the_queue_is_full_and_then_costs_a_wait() -> None:
    scenario = fresh(LAUNCHES, "longer work")
    took(scenario, "launch", "synchronize")
    launched_s = took(scenario, *["launch"] * 50)
    assert 50 * launched_s < took(scenario, "synchronize")
    first_s, *more_s = [took(scenario, "launch") for _ in range(1030)]
    assert max(more_s[:900]) < 2 * first_s
    assert more_s[-1] > 20 * first_s
    scenario = fresh(LAUNCHES, "longer work")
    took(scenario, *["launch"] * 1000)
    assert scenario.cost == 1  # the least cost
    took(scenario, *["launch"] * 30, "synchronize")
    assert scenario.cost == 31


def solution() -> Callable[..., float]:
    names: dict[str, Callable[..., float]] = {}
    exec(paths.solution(LAUNCHES.lesson).read_text(encoding="utf-8"), names)  # noqa: S102 - the kit's solution
    return names["time_async"]


def test_the_solution_times_a_real_queue() -> None:
    """Other programs on this machine only add time, so the result can be too long but never too short."""
    sleep_s = 2e-3
    with SimulatedStream() as stream:
        measured_s = solution()(lambda: stream.launch(lambda: time.sleep(sleep_s)), stream.synchronize, clocks.wall)
    assert sleep_s <= measured_s < 5 * sleep_s


def samples_of(scenario: Scenario, blocks: int) -> list[float]:
    return [took(scenario, "run", arguments=(50,)) / 50 for _ in range(blocks)]


def test_samples_and_statistics_that_do_not_fit_the_blocks_are_found_out() -> None:
    scenario = fresh(RUNS, "a fast statement")
    scenario.call("run", (1,))
    few = samples_of(scenario, 20)

    def remark(answer: list[Value]) -> str:
        mismatch = scenario.judge(answer)
        return " ".join(mismatch.lines) if mismatch else ""

    assert "20 such blocks" in remark([50, [*few * 10], median(few), 0.0])
    samples = samples_of(scenario, 180) + few
    middle = median(samples)
    assert "nearest block" in remark([50, [1e-4] * 200, 1e-4, 0.0])
    assert "This is their mean." in remark([50, [*samples], statistics.fmean(samples), 0.0])
    for method in ("inclusive", "exclusive"):
        low, _, high = statistics.quantiles(samples, n=4, method=method)
        assert remark([50, [*samples], middle, high - low]) == ""
    assert "IQR" in remark([50, [*samples], middle, (high - low) / 2])
    for block_size, given in ((0, [1.0]), (10**400, [1.0]), (1.5, [1.0]), (1, "samples"), (1, [None]), (10**9, [])):
        assert remark([block_size, given, 1.0, 0.0])
    assert remark([10**9, [1e308] * 20, None, 0.0])
    assert remark([10**9, [1e308] * 20, 1.0, 0.0])


def test_work_takes_as_much_longer_as_the_weather_is_slower_and_weather_repeats() -> None:
    slow = Weather([(1.0, 1.0), (1.0, 2.0)])
    for start_s, work_s, end_s in ((0.0, 1.5, 2.0), (1.0, 0.25, 1.5), (0.0, 1500.0, 2000.0), (2000.0, 1.5, 2002.0)):
        assert slow.end_s(start_s, work_s) == pytest.approx(end_s)
    interrupted = Weather([(1.0, 1.0), (0.5, STANDSTILL)])
    assert interrupted.end_s(0.0, 0.9) == pytest.approx(0.9)
    assert interrupted.end_s(0.9, 0.2) == pytest.approx(1.6)


def test_the_clock_shows_whole_ticks_and_no_interruption_falls_into_a_reading() -> None:
    """Otherwise a measured step of the clock, or a block's time, could be wrong by a whole interruption."""
    machine = Machine(tick_s=0.5, reading_s=0.2, origin_s=10, weather=Weather([(1.0, 1.0), (50.0, STANDSTILL)]))
    assert [machine.read() for _ in range(10)] == [10.0, 10.0, 10.5, 10.5, 11.0, 11.0, 11.0, 11.5, 11.5, 12.0]
    machine.work(0.1)
    assert machine.now_s == pytest.approx(51.1)
    assert machine.step_s == 0.5


def test_stratified_draws_cover_every_part_of_the_range() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        drawn = stratified(rng, 2.0, 6.0, 8)
        assert [int(2 * (value - 2.0)) for value in sorted(drawn)] == list(range(8))
    assert stratified(rng, 0.0, 1.0, 50) != sorted(stratified(rng, 0.0, 1.0, 50))


def test_weather_that_begins_late_disturbs_nothing_before() -> None:
    weather = LateWeather([(1.0, STANDSTILL), (3.0, 1.0)])
    assert weather.end_s(5.0, 2.0) == 7.0
    weather.begin(10.0)
    assert weather.end_s(5.0, 2.0) == 7.0
    assert weather.end_s(9.0, 2.0) == pytest.approx(12.0)
    assert weather.end_s(10.5, 1.0) == pytest.approx(12.0)


def test_a_test_case_without_simulated_functions_refuses_a_call_of_one() -> None:
    with pytest.raises(ValueError, match="no function clock"):
        PlainScenario().call("clock", [])
