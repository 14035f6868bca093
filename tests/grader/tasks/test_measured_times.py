"""The simulated machines of lessons 02 to 04: what a method may rely on, and how each wrong answer is explained."""

import statistics
from collections.abc import Sequence
from statistics import median

import numpy as np
import pytest
from playing import find_task, play, remarks

from grader import overlays, paths
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


TWO_BLOCKS_APART = """
def time_per_call(fn, clock):
    for _ in range(5):
        fn()
    return (block(fn, clock, 13) - block(fn, clock, 6)) / 7

def block(fn, clock, calls):
    start = clock()
    for _ in range(calls):
        fn()
    return clock() - start
"""


def launches(calls: int, blocks: int, keep: str, inside: str = "", after: str = "synchronize()") -> str:
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
            {inside or "pass"}
        {after}
        times.append((clock() - start) / {calls})
        synchronize()
    return {keep}
"""


CALLS = find_task("02_timeit_vs_timer", "time_per_call")
REPAIR = find_task("02_timeit_vs_timer", "repair")
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
    for block_size, given in ((0, [1.0]), (10**400, [1.0]), (1.5, [1.0]), (1, "samples"), (1, [None]), (10**9, [])):
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


def said(
    source: str, kind: str, lesson: str = "02_timeit_vs_timer", name: str = "time_per_call", seed: int = 0
) -> list[str]:
    return remarks(find_task(lesson, name), source, kind, seed)


BUSY = launches(100, 1, "times[0]").replace("    times = []", "    [launch() for _ in range(20)]\n    times = []")


@pytest.mark.parametrize(
    ("source", "kind", "fact", "absent"),
    [
        (fixed_blocks(2, 6), CALM, "one step. Put more calls between two readings.", "put fewer"),
        (fixed_blocks(500, 5), LONG, "All 5 blocks of this size were disturbed. ", "mean of"),
        (fixed_blocks(30, 10, "sum(times) / len(times)"), LONG, "the mean of 10 blocks of 30 calls", "the shortest of"),
        (fixed_blocks(3, 20, "max(times)"), LONG, "blocks of this size had no disturbance: take the shortest", "mean"),
        (fixed_blocks(64, 1, warm=False), CALM, "went to slow first calls. Make the first calls before", "interrupt"),
        (fixed_blocks(32, 5, "min(times) * 32"), CALM, "a whole block of 32 calls. Divide it by the number", "went to"),
        (TWO_BLOCKS_APART, LONG, "You timed 2 blocks of 6 to 13 calls.", "exactly"),
        (ONE_PROBE, "interrupt", "from the time of that block, you chose too few.", "slow first calls"),
        (NOTHING_TIMED, CALM, "fn() was called 1 time, and the clock was read 1 time. No call was made", "exactly"),
        (launches(8, 5, "min(times)"), ALONE, "went to launching and synchronizing. Put more launches in", "mean"),
        (launches(100, 1, "times[0]", "synchronize()", ""), ALONE, "A block calls synchronize() 100 times", "mean"),
        (launches(200, 1, "times[0]", after=""), SHARED, "still working at the last reading of the clock", "programs"),
        (BUSY, ALONE, "launched before the first reading. Call synchronize() before the first", "interruptions"),
    ],
)
def test_the_explanation_names_the_cause_and_no_other(source: str, kind: str, fact: str, absent: str) -> None:
    of_launches = ("03_cuda_sync", "time_async") if "launch()" in source else ()
    found = said(source, kind, *of_launches)
    assert fact in found[0]
    assert not any(absent in remark for remark in found)


def test_lists_made_and_lists_sorted_already_are_told_by_what_happened() -> None:
    stub = paths.stub("02_timeit_vs_timer").read_text(encoding="utf-8")
    game = play(find_task("02_timeit_vs_timer", "repair"), stub, seed=1)
    found = {scenario.function: m.remark for scenario, m in zip(game.scenarios, game.mismatches, strict=True) if m}
    assert "went to making lists" in found["time_sum"]
    assert "Divide it by the number of calls." in found["time_multiply"]
    assert "went to slow first calls" in found["time_matmul"]
    assert "lists that were sorted already. Give each call a new list." in found["time_sort"]
    assert "the mean of 10 blocks of 50 calls" in found["time_hash"]


def test_a_warm_up_that_was_not_timed_misled_nobody() -> None:
    task = find_task("04_autorange", "blocked_autorange")
    warmed, cold = (
        overlays.whole(task.known / f"{name}.py") for name in ("wrong_one_run_a_sample", "wrong_cold_guess")
    )
    assert said(warmed, LONG_READINGS, task.lesson, task.name) == [""]
    assert "this block includes the slow first run" in said(cold, LONG_READINGS, task.lesson, task.name)[0]
