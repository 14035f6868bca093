import time
from collections.abc import Callable
from itertools import pairwise
from statistics import median

import pytest
import torch
from playing import find_task, play

from grader import catalogue
from grader.task import Scenario
from harness import clocks
from harness.devices import Cuda, SimulatedStream

TASK = find_task("03_cuda_sync", "time_async")
NOTHING = "def time_async(launch, synchronize, clock):\n    pass\n"

FIXED = """
def time_async(launch, synchronize, clock):
    launch()
    synchronize()
    blocks = []
    for _ in range(5):
        start = clock()
        for _ in range({launches}):
            launch()
        synchronize()
        blocks.append(clock() - start)
    return min(blocks) / {launches}
"""


def fresh_world(title: str = "short work") -> Scenario:
    return next(world for world in play(TASK, NOTHING, seed=3).scenarios if world.title == title)


def read(world: Scenario) -> float:
    seconds = world.call("clock", ())
    assert isinstance(seconds, float)
    return seconds


def took(world: Scenario, *calls: str) -> float:
    start_s = read(world)
    for name in calls:
        world.call(name, ())
    return read(world) - start_s


@pytest.mark.parametrize("launches", [1, 4, 16, 64, 256, 1024])
def test_no_fixed_number_of_launches_is_right_in_every_world(launches: int) -> None:
    assert not play(TASK, FIXED.format(launches=launches), seed=0).right


def test_a_launch_returns_at_once_and_the_work_is_waited_for() -> None:
    world = fresh_world("longer work")
    took(world, "launch", "synchronize")
    launched_s = took(world, *["launch"] * 50)
    waited_s = took(world, "synchronize")
    assert 50 * launched_s < waited_s


def test_the_first_launch_loads_a_library_and_no_other_does() -> None:
    world = fresh_world()
    first_s, *later_s = (took(world, "launch", "synchronize") for _ in range(5))
    assert first_s > 100 * max(later_s)


def test_to_synchronize_an_idle_device_costs_time_and_counts() -> None:
    world = fresh_world()
    assert took(world, "synchronize") >= 10e-6
    assert world.cost == 1


def test_a_full_queue_makes_the_next_launch_wait() -> None:
    world = fresh_world("longer work")
    took(world, "launch", "synchronize")
    first_s, *more_s = [took(world, "launch") for _ in range(1100)]
    assert max(more_s[:900]) < 2 * first_s
    assert more_s[-1] > 20 * first_s


def test_work_that_follows_other_work_waits_for_its_turn() -> None:
    world = fresh_world()
    took(world, "launch", "synchronize")
    blocks_s = [took(world, *["launch"] * n, "synchronize") for n in (20, 40, 60)]
    one, other = (longer - shorter for shorter, longer in pairwise(blocks_s))
    assert one == pytest.approx(other, rel=0.01)


def test_arguments_are_refused_in_one_sentence() -> None:
    world = fresh_world()
    for name in ("launch", "synchronize", "clock"):
        with pytest.raises(ValueError, match=rf"{name}\(\) takes no arguments"):
            world.call(name, (1,))


def solution() -> Callable[..., float]:
    names: dict[str, Callable[..., float]] = {}
    exec(catalogue.solution(TASK.lesson).read_text(encoding="utf-8"), names)  # noqa: S102 - our own solution
    return names["time_async"]


def test_the_solution_times_a_real_queue_too() -> None:
    """Others are at work on this machine, which only adds time: it can come out long, but never short."""
    sleep_s = 2e-3
    with SimulatedStream() as stream:
        measured_s = solution()(lambda: stream.launch(lambda: time.sleep(sleep_s)), stream.synchronize, clocks.wall)
    assert sleep_s <= measured_s < 5 * sleep_s


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_solution_agrees_with_the_events_of_a_gpu() -> None:
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
