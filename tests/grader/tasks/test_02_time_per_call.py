import math

import pytest
from playing import find_task, play, titled

from grader import overlays
from grader.task import Mismatch
from grader.values import Value

TASK = find_task("02_timeit_vs_timer", "time_per_call")

FIXED_BLOCKS = """
def time_per_call(fn, clock):
    for _ in range(3):
        fn()
    times = []
    for _ in range({blocks}):
        start = clock()
        for _ in range({calls}):
            fn()
        times.append(clock() - start)
    return min(times) / {calls}
"""


@pytest.mark.parametrize("calls", [1, 2, 5, 200, 1000])
def test_blocks_too_short_for_the_clock_or_longer_than_the_quiet_are_wrong(calls: int) -> None:
    assert not play(TASK, FIXED_BLOCKS.format(calls=calls, blocks=4), seed=0).right


def test_no_fixed_number_of_calls_is_both_right_everywhere_and_cheap_for_the_longer_call() -> None:
    fixed = play(TASK, FIXED_BLOCKS.format(calls=32, blocks=3), seed=0)
    found = play(TASK, overlays.whole(TASK.known / "tier3_five_blocks.py"), seed=0)
    longer = [titled(game.scenarios, "a longer call").cost for game in (fixed, found)]
    assert longer[0] > 3 * longer[1]


@pytest.mark.parametrize("answer", [None, "3 µs", True, [1e-6], math.nan, math.inf, 10**400, {}])
def test_an_answer_that_is_no_number_is_told_so(answer: Value) -> None:
    mismatch = play(TASK, TASK.baseline, seed=0).scenarios[0].judge(answer)
    assert isinstance(mismatch, Mismatch)
    assert "Return one number" in mismatch.remark


def test_the_first_three_calls_are_slow_and_each_call_is_counted() -> None:
    scenarios = play(TASK, "def time_per_call(fn, clock):\n    pass\n", seed=5).scenarios
    scenario = titled(scenarios, "no interruptions")
    times = []
    for _ in range(5):
        start = scenario.call("clock", ())
        scenario.call("fn", ())
        end = scenario.call("clock", ())
        assert isinstance(start, float)
        assert isinstance(end, float)
        times.append(end - start)
    assert scenario.cost == 5
    assert min(times[:3]) > 20 * max(times[3:])


def test_arguments_for_a_function_that_takes_none_are_refused() -> None:
    scenario = play(TASK, TASK.baseline, seed=0).scenarios[0]
    for name in ("fn", "clock"):
        with pytest.raises(ValueError, match=rf"{name}\(\) takes no arguments"):
            scenario.call(name, (1,))


def test_every_stage_of_a_search_that_doubles_is_interrupted_in_some_scenario_of_every_exam() -> None:
    """Otherwise a search that one interrupted block misleads would earn all points or none by luck."""
    for seed in range(20):
        scenarios = play(TASK, "def time_per_call(fn, clock):\n    pass\n", seed).scenarios
        slow_clock = [scenario for scenario in scenarios if "clock that takes long" in scenario.title]
        first = [getattr(scenario, "interrupted") - 3 for scenario in slow_clock]  # noqa: B009 - the protocol does not promise it
        assert all(any(low <= call < 2 * low for call in (one + 1 for one in first)) for low in (1, 2, 4, 8, 16))


def test_an_interruption_hits_the_call_that_was_drawn_for_it() -> None:
    scenarios = play(TASK, "def time_per_call(fn, clock):\n    pass\n", seed=4).scenarios
    scenario = titled(scenarios, "a short call, interrupted")
    interrupted = getattr(scenario, "interrupted")  # noqa: B009 - the protocol does not promise it
    times = []
    for _ in range(interrupted + 2):
        start = scenario.call("clock", ())
        scenario.call("fn", ())
        end = scenario.call("clock", ())
        assert isinstance(start, float)
        assert isinstance(end, float)
        times.append(end - start)
    assert times[interrupted] > 10 * times[interrupted + 1]
