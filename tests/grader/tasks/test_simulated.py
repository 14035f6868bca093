import numpy as np
import pytest

from grader.tasks.plain import PlainScenario
from grader.tasks.simulated import STANDSTILL, LateWeather, Machine, Weather, stratified


def test_work_takes_as_much_longer_as_the_weather_is_slower_and_weather_repeats() -> None:
    slow = Weather([(1.0, 1.0), (1.0, 2.0)])
    for start_s, work_s, end_s in ((0.0, 1.5, 2.0), (1.0, 0.25, 1.5), (0.0, 1500.0, 2000.0), (2000.0, 1.5, 2002.0)):
        assert slow.end_s(start_s, work_s) == pytest.approx(end_s)
    interrupted = Weather([(1.0, 1.0), (0.5, STANDSTILL)])
    assert interrupted.end_s(0.0, 0.9) == pytest.approx(0.9)
    assert interrupted.end_s(0.9, 0.2) == pytest.approx(1.6)


def test_doing_work_in_parts_takes_as_long_as_doing_it_at_once() -> None:
    weather = Weather([(0.3, 1.0), (0.2, 1.7), (0.1, STANDSTILL), (0.4, 1.1)])
    now_s = 0.0
    for _ in range(1000):
        now_s = weather.end_s(now_s, 0.01)
    assert now_s == pytest.approx(weather.end_s(0.0, 10.0))


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
