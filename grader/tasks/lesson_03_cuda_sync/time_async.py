"""The task of lesson 03: measure asynchronous work in blocks of launches, and synchronize once per block.

The right answer is the time of one launch on the warm, undisturbed device. The cost is how often the submission waits
for the device: in calls of synchronize, and in launches while the queue is full.

Launching and synchronizing cost the host 13 to 26 µs per block, so a block must last at least 2.6 ms for an error of at
most 1 %. A shared device is free for 30 to 40 ms, and then used by other programs for 8 to 12 ms. One launch takes 20
µs to 0.8 ms, so no fixed number of launches fits every scenario.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task, Tier
from grader.tasks.causes import CallTruth, why
from grader.tasks.intervals import AddedTime, CallRecorder
from grader.tasks.plain import compare_seconds
from grader.tasks.simulated import (
    CALM,
    STANDSTILL,
    LateWeather,
    Machine,
    Weather,
    added_s,
    doubled,
    early_calls,
    shuffled,
    want_no_arguments,
)
from grader.values import Value

ALLOWED = 0.01
"""The allowed error, as a share of the right answer."""

QUEUE_LENGTH = 1000
"""The number of launches that fit into the device's queue. As on a GPU, a launch waits while the queue is full."""

PLAIN_BLOCK_S = 5e-3
"""Submissions are compared with a simple method, which tries longer blocks until one lasts this many seconds."""


@dataclass
class DeviceScenario:
    """A simulated device that takes `work_s` for each launch, and `load_s` more for the first.

    A launch costs the host `launch_s`. Synchronizing costs the host `synchronize_s` after the device has finished. The
    device's `Weather` simulates other programs that use the device now and then. If it is a `LateWeather`, these
    programs begin during the launch that follows `others_after` launches. `waited` is the number of launches that
    waited because the queue was full.
    """

    title: str
    host: Machine
    device: Weather
    work_s: float
    load_s: float
    launch_s: float
    synchronize_s: float
    others_after: int | None = None
    launched: int = 0
    synchronized: int = 0
    waited: int = 0
    seen: CallRecorder = field(default_factory=CallRecorder)
    ends_s: deque[float] = field(default_factory=deque)
    free_s: float = 0.0
    function = "time_async"
    arguments = (SimulatedFunction("launch"), SimulatedFunction("synchronize"), SimulatedFunction("clock"))

    @property
    def cost(self) -> float:
        """The number of calls of synchronize and of launches that waited, or 1 if there was none."""
        return max(1, self.synchronized + self.waited)

    @property
    def plain_cost(self) -> float:
        """Return the baseline's calls of synchronize: one to warm up, and 20 for each number of launches per block."""
        sizes = doubled(PLAIN_BLOCK_S, self.work_s).bit_length()
        return 1 + 20 * sizes

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Simulate a launch or a synchronize, or return the clock's reading in seconds."""
        want_no_arguments(name, arguments)
        if name == "clock":
            return self._read()
        if name == "launch":
            self._launch()
        else:
            self._synchronize()
        return None

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` if the answer differs from the true seconds per launch, else None."""
        truth = CallTruth("launch", self.work_s, self.host.step_s, "launch", self.device.quiet_s, device=True)
        return compare_seconds(answer, self.work_s, ALLOWED, lambda got_s: why(got_s, self.seen, truth))

    def _read(self) -> float:
        shown_s = self.host.read()
        under_way_s = max(0.0, self.free_s - self.host.now_s)
        self.seen.add(AddedTime.UNFINISHED, -under_way_s)
        self.seen.read(shown_s)
        self.seen.add(AddedTime.EARLIER, under_way_s)
        return shown_s

    def _launch(self) -> None:
        self.host.work(self.launch_s)
        if len(self.ends_s) == QUEUE_LENGTH and self.ends_s[0] > self.host.now_s:
            self.waited += 1
            self._wait_until(self.ends_s[0])
        while self.ends_s and self.ends_s[0] <= self.host.now_s:
            self.ends_s.popleft()
        begins_s = max(self.free_s, self.host.now_s)
        if self.launched == self.others_after and isinstance(self.device, LateWeather):
            self.device.begin(begins_s + self.work_s / 2)
        load_s = 0.0 if self.launched else self.load_s
        self.launched += 1
        self.free_s = self.device.end_s(begins_s, self.work_s + load_s)
        self.ends_s.append(self.free_s)
        self.seen.called()
        self.seen.add(AddedTime.FIRST_CALLS, load_s)
        self.seen.add(AddedTime.TAKEN, added_s(begins_s, self.free_s, self.work_s + load_s))

    def _synchronize(self) -> None:
        self.synchronized += 1
        self.seen.waited()
        self._wait_until(self.free_s)
        self.ends_s.clear()
        self.host.work(self.synchronize_s)

    def _wait_until(self, moment_s: float) -> None:
        self.host.now_s = max(self.host.now_s, moment_s)


EACH = 12
"""The number of scenarios of each kind in which other programs use the device."""

MOST_EARLY_LAUNCHES = 255
"""Other programs first use the device within this number of warm launches."""


def draw_scenarios(rng: np.random.Generator) -> tuple[DeviceScenario, ...]:
    """Return the scenarios for one grading in random order: two undisturbed, and `EACH` of two shared kinds.

    In each scenario of a shared kind, other programs delay a different early launch. So every grading has disturbances
    at all times that can mislead a method.
    """
    disturbed = (
        ("short work on a shared device", (20e-6, 40e-6)),
        ("longer work on a shared device", (0.2e-3, 0.4e-3)),
    )
    scenarios = [
        _scenario(rng, "short work", (20e-6, 40e-6), None),
        _scenario(rng, "longer work", (0.4e-3, 0.8e-3), None),
    ]
    scenarios += [
        _scenario(rng, *kind, first) for kind in disturbed for first in early_calls(rng, MOST_EARLY_LAUNCHES, EACH)
    ]
    return shuffled(rng, scenarios)


def _scenario(rng: np.random.Generator, title: str, work_s: tuple[float, float], first: int | None) -> DeviceScenario:
    tick_s = 1e-7
    return DeviceScenario(
        title,
        host=Machine(tick_s, reading_s=tick_s, origin_s=float(rng.uniform(10, 1000))),
        device=CALM if first is None else _others(rng),
        work_s=float(rng.uniform(*work_s)),
        load_s=float(rng.uniform(0.05, 0.2)),
        launch_s=float(rng.uniform(3e-6, 6e-6)),
        synchronize_s=float(rng.uniform(10e-6, 20e-6)),
        others_after=None if first is None else 1 + first,
    )


def _others(rng: np.random.Generator) -> LateWeather:
    quiet = rng.uniform(30e-3, 40e-3, 64)
    taken = rng.uniform(8e-3, 12e-3, 64)
    pairs = zip(quiet.tolist(), taken.tolist(), strict=True)
    return LateWeather([part for quiet_s, taken_s in pairs for part in ((taken_s, STANDSTILL), (quiet_s, 1.0))])


TIME_ASYNC = Task(
    summary="measure the seconds of launched work, within 1 %, with few calls of synchronize",
    cost=CALLS,
    tiers=(Tier(1.4, 0.6), Tier(3.1, 0.8), Tier(6.2, 1.0)),
    hints=(
        (
            "What do you measure if you read the clock right after launch() has returned? When you read the clock at "
            "the start and at the end of a block, must the device be busy or idle?"
        ),
        (
            "A block is many launches followed by one synchronize(). Then the device is idle, and the next block can "
            "begin at once. Do not time the first launch, which loads a library. Launching and waiting take about 20 "
            "µs per block. How long must a block be, so that 20 µs are a small part of it?"
        ),
        (
            "First call launch() and synchronize(). Time a block in these steps: read the clock, launch n times, "
            "synchronize, read the clock. Begin with n = 1. Multiply n by 5 ms divided by the block's time, until a "
            "block lasts 5 ms. Time three blocks of n launches, and return the shortest time divided by n."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, forgiven=2),
    read="lesson 03, “How often to wait”",
    idea=(
        "The solution launches once without timing, because the first launch loads a library. Then it times blocks. "
        "The device is idle at the start and at the end of each block. If a block is too short, the solution computes "
        "from its time how many launches take 6 ms. So the solution needs only a few blocks. The solution takes the "
        "shortest of three blocks, because other programs only add time."
    ),
    references=(
        "The CUDA C++ Programming Guide on asynchronous execution and events; the documentation of torch.cuda.Event. "
        "Lesson 04 shows how long a block should be."
    ),
)
