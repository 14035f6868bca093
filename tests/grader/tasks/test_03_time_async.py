import time
from collections.abc import Callable
from itertools import pairwise
from statistics import median

import pytest
import torch
from measuring import launches
from playing import find_task, play

from grader import paths
from grader.task import Scenario
from harness.machine import clocks
from harness.machine.devices import Cuda, SimulatedStream

TASK = find_task("03_cuda_sync", "time_async")
NOTHING = "def time_async(launch, synchronize, clock):\n    pass\n"


def fresh_scenario(title: str = "short work") -> Scenario:
    return next(scenario for scenario in play(TASK, NOTHING, seed=3).scenarios if scenario.title == title)


def read(scenario: Scenario) -> float:
    seconds = scenario.call("clock", ())
    assert isinstance(seconds, float)
    return seconds


def took(scenario: Scenario, *calls: str) -> float:
    start_s = read(scenario)
    for name in calls:
        scenario.call(name, ())
    return read(scenario) - start_s


def test_no_fixed_number_of_launches_is_right_in_every_scenario() -> None:
    for number in (16, 256):
        assert not play(TASK, launches(number, 5, "min(times)"), seed=0).right


def test_a_launch_returns_at_once_and_the_work_is_waited_for() -> None:
    scenario = fresh_scenario("longer work")
    took(scenario, "launch", "synchronize")
    launched_s = took(scenario, *["launch"] * 50)
    waited_s = took(scenario, "synchronize")
    assert 50 * launched_s < waited_s


def test_a_full_queue_makes_the_next_launch_wait() -> None:
    scenario = fresh_scenario("longer work")
    took(scenario, "launch", "synchronize")
    first_s, *more_s = [took(scenario, "launch") for _ in range(1100)]
    assert max(more_s[:900]) < 2 * first_s
    assert more_s[-1] > 20 * first_s


def test_a_launch_that_waits_costs_as_much_as_a_synchronize() -> None:
    scenario = fresh_scenario("longer work")
    took(scenario, *["launch"] * 1000)
    assert scenario.cost == 1  # the least cost
    took(scenario, *["launch"] * 30, "synchronize")
    assert scenario.cost == 31


def test_work_that_follows_other_work_waits_for_its_turn() -> None:
    scenario = fresh_scenario()
    took(scenario, "launch", "synchronize")
    blocks_s = [took(scenario, *["launch"] * n, "synchronize") for n in (20, 40, 60)]
    one, other = (longer - shorter for shorter, longer in pairwise(blocks_s))
    assert one == pytest.approx(other, rel=0.01)


def solution() -> Callable[..., float]:
    names: dict[str, Callable[..., float]] = {}
    exec(paths.solution(TASK.lesson).read_text(encoding="utf-8"), names)  # noqa: S102 - the kit's solution
    return names["time_async"]


def test_the_solution_times_a_real_queue_and_a_gpu_if_there_is_one() -> None:
    """Other programs on this machine only add time, so the result can be too long but never too short."""
    sleep_s = 2e-3
    with SimulatedStream() as stream:
        measured_s = solution()(lambda: stream.launch(lambda: time.sleep(sleep_s)), stream.synchronize, clocks.wall)
    assert sleep_s <= measured_s < 5 * sleep_s
    if torch.cuda.is_available():
        agree_on_a_gpu()


def agree_on_a_gpu() -> None:
    """Compare the solution with the events of a GPU."""
    with Cuda() as device:
        a, b = torch.rand(2, 64, 512, 512, device="cuda")

        def launch() -> None:
            device.launch(lambda: torch.bmm(a, b))

        measured_s = solution()(launch, device.synchronize, clocks.wall)
        by_events_s = []
        for _ in range(5):
            start = device.record()
            for _ in range(50):
                launch()
            end = device.record()
            device.synchronize()
            by_events_s.append(end.seconds_since(start) / 50)
    assert measured_s == pytest.approx(median(by_events_s), rel=0.1)
