"""The simulated machines of lessons 02 to 04: what a method may rely on, and how each wrong answer is explained."""

import statistics
from collections.abc import Sequence
from statistics import median

import numpy as np
import pytest
from playing import find_task, remarks

from grader import overlays
from grader.task import Scenario, SimulatedExam, Task
from grader.tasks.plain import PlainScenario
from grader.tasks.simulated import STANDSTILL, Machine, Weather
from grader.values import Value

WARM = "    for _ in range(5):\n        fn()\n"


def fixed_blocks(calls: int, blocks: int, keep: str = "min(times)", *, warm: bool = True) -> str:
    """Return a `time_per_call` that times `blocks` blocks of `calls` calls. `keep` computes the answer from `times`."""
    return f"""
import statistics
def time_per_call(fn, clock):
{WARM if warm else ""}    times = []
    for _ in range({blocks}):
        start = clock()
        for _ in range({calls}):
            fn()
        times.append((clock() - start) / {calls})
    return {keep}
"""


def launches(calls: int, blocks: int, keep: str, after: str = "synchronize()") -> str:
    """Return a `time_async` that times blocks of launches. `keep` computes the answer from `times`."""
    return f"""
def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    times = []
    for _ in range({blocks}):
        start = clock()
        for _ in range({calls}):
            launch()
        {after}
        times.append((clock() - start) / {calls})
        synchronize()
    return {keep}
"""


CALLS = find_task("02_timeit_vs_timer", "time_per_call")
LAUNCHES = find_task("03_cuda_sync", "time_async")
RUNS = find_task("04_autorange", "blocked_autorange")
LONG_READINGS = "a clock that takes long to read"


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


def test_a_launch_returns_at_once_until_the_queue_is_full_and_then_costs_a_wait() -> None:
    scenario = fresh(LAUNCHES, "longer work")
    first_s, *more_s = [took(scenario, "launch") for _ in range(1030)]
    assert max(more_s[:900]) < 2 * first_s
    assert more_s[-1] > 20 * first_s


def samples_of(scenario: Scenario, blocks: int) -> list[float]:
    return [took(scenario, "run", arguments=(50,)) / 50 for _ in range(blocks)]


def test_samples_and_statistics_that_do_not_fit_the_blocks_are_found_out() -> None:
    scenario = fresh(RUNS, LONG_READINGS)
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
    fast = sorted(samples)
    for claimed, words in (
        (fast, ""),
        (samples[20:], ""),  # blocks to warm up may be left out
        ([sample - 1e-5 / 50 for sample in samples], ""),  # without the time of a reading
        (fast[:120], "Leave no block out"),
        ([*fast[:100], *fast[:100]], "use no block twice"),
        ([fast[0]] * 200, "use no block twice"),
    ):
        low, middle_s, high = statistics.quantiles(claimed, n=4)
        remarked = remark([50, [*claimed], middle_s, high - low])
        assert words in remarked if words else not remarked
    assert "IQR" in remark([50, [*samples], middle, (high - low) / 2])
    for block_size, given in ((0, [1.0]), (10**400, [1.0]), (1, [None])):
        assert remark([block_size, given, 1.0, 0.0])
    assert remark([10**9, [1e308] * 20, None, 0.0])
    assert remark([10**9, [1e308] * 20, 1.0, 0.0])


def test_the_clock_shows_whole_ticks_and_no_interruption_falls_into_a_reading() -> None:
    """Otherwise a measured step of the clock, or a block's time, could be wrong by a whole interruption."""
    machine = Machine(tick_s=0.5, reading_s=0.2, origin_s=10, weather=Weather([(1.0, 1.0), (50.0, STANDSTILL)]))
    assert [machine.read() for _ in range(10)] == [10.0, 10.0, 10.5, 10.5, 11.0, 11.0, 11.0, 11.5, 11.5, 12.0]
    machine.work(0.1)
    assert machine.now_s == pytest.approx(51.1)
    assert machine.step_s == 0.5


def test_a_test_case_without_simulated_functions_refuses_a_call_of_one() -> None:
    with pytest.raises(ValueError, match="no function clock"):
        PlainScenario().call("clock", [])


CALM, LONG, SLOW_CLOCK = "no interruptions", "a longer call", "takes long to read"
ALONE, SHARED = "short work", "short work on a shared device"
ONE_PROBE = overlays.whole(CALLS.known / "wrong_one_probe.py")
NOTHING_TIMED = "def time_per_call(fn, clock):\n    fn()\n    return clock()\n"


@pytest.mark.parametrize(
    ("source", "kind", "fact", "absent"),
    [
        (fixed_blocks(2, 6), CALM, "one step. Put more calls between two readings.", "put fewer"),
        (fixed_blocks(500, 5), LONG, "All 5 blocks of this size were disturbed. ", "mean of"),
        (fixed_blocks(64, 1, warm=False), CALM, "went to slow first calls. Make the first calls before", "interrupt"),
        (fixed_blocks(32, 5, "min(times) * 32"), CALM, "a whole block of 32 calls. Divide it by the number", "went to"),
        (ONE_PROBE, "interrupt", "from the time of that block, you chose too few.", "slow first calls"),
        (NOTHING_TIMED, CALM, "fn() was called 1 time, and the clock was read 1 time. No call was made", "exactly"),
        (launches(8, 5, "min(times)"), ALONE, "went to launching and synchronizing. Put more launches in", "mean"),
        (launches(200, 1, "times[0]", after=""), SHARED, "still working at the last reading of the clock", "programs"),
    ],
)
def test_the_explanation_names_the_cause_and_no_other(source: str, kind: str, fact: str, absent: str) -> None:
    found = remarks(LAUNCHES if "launch()" in source else CALLS, source, kind)
    assert fact in found[0]
    assert not any(absent in remark for remark in found)
