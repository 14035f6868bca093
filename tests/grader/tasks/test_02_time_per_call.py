from measuring import fixed_blocks
from playing import find_task, play, titled

TASK = find_task("02_timeit_vs_timer", "time_per_call")


def test_blocks_too_short_for_the_clock_or_longer_than_the_quiet_are_wrong() -> None:
    for calls in (5, 200):
        assert not play(TASK, fixed_blocks(calls, 4), seed=0).right


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


def test_every_stage_of_a_search_that_doubles_is_interrupted_in_some_scenario_of_every_exam() -> None:
    """Otherwise a search that one interrupted block misleads would earn all points or none by luck."""
    for seed in range(4):
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
