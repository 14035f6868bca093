"""The worlds of lesson 03: a host with a clock, and a device that works off a queue behind the host's back.

The planted truth is what one launch of the work takes on the undisturbed device once it is warm. The cost is how often
the host synchronized.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.task import Metered, Mismatch
from grader.tasks.answers import compare_seconds
from grader.tasks.causes import Truth, why
from grader.tasks.intervals import Part, Recorder
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
"""The error allowed, as a share of the truth (CURRICULUM, lesson 03)."""

QUEUE_LENGTH = 1000
"""Launches that fit into the device's queue; the next one waits for room, as on a GPU."""


PLAIN_BLOCK_S = 5e-3
"""How long a block is that the plain way takes to be long enough."""


@dataclass
class DeviceWorld:
    """A device that takes `work_s` for each launch, and `load_s` more for the first.

    To launch costs the host `launch_s`, to synchronize `synchronize_s` after the device has finished. The weather is
    the device's: somebody else uses it now and then. A `LateWeather` begins during the launch after `others_after`.
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
    seen: Recorder = field(default_factory=Recorder)
    ends_s: deque[float] = field(default_factory=deque)
    free_s: float = 0.0
    function: str = "time_async"

    @property
    def arguments(self) -> tuple[Metered, ...]:
        """What launches the work, what waits for it, and the host's clock."""
        return (Metered("launch"), Metered("synchronize"), Metered("clock"))

    @property
    def cost(self) -> float:
        """How often the host synchronized."""
        return self.synchronized

    @property
    def plain_cost(self) -> float:
        """Twenty blocks of each size, doubled until one takes 5 ms, after one launch to warm up."""
        sizes = doubled(PLAIN_BLOCK_S, self.work_s).bit_length()
        return 1 + 20 * sizes

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Answer launch and synchronize (nothing, after the host's time) or the clock (seconds)."""
        want_no_arguments(name, arguments)
        if name == "clock":
            return self._read()
        if name == "launch":
            self._launch()
        else:
            self._synchronize()
        return None

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare with the planted seconds a launch."""
        truth = Truth("launch", self.work_s, self.host.step_s, "launch", self.device.quiet_s, device=True)
        return compare_seconds(answer, self.work_s, ALLOWED, lambda got_s: why(got_s, self.seen, truth))

    def _read(self) -> float:
        """Read the clock. Work that is under way then belongs to the interval before the reading, but ends after it."""
        shown_s = self.host.read()
        under_way_s = max(0.0, self.free_s - self.host.now_s)
        self.seen.add(Part.UNFINISHED, -under_way_s)
        self.seen.read(shown_s)
        self.seen.add(Part.EARLIER, under_way_s)
        return shown_s

    def _launch(self) -> None:
        self.host.work(self.launch_s)
        if len(self.ends_s) == QUEUE_LENGTH:
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
        self.seen.add(Part.FIRST_CALLS, load_s)
        self.seen.add(Part.TAKEN, added_s(begins_s, self.free_s, self.work_s + load_s))

    def _synchronize(self) -> None:
        self.synchronized += 1
        self.seen.waited()
        self._wait_until(self.free_s)
        self.ends_s.clear()
        self.host.work(self.synchronize_s)

    def _wait_until(self, moment_s: float) -> None:
        self.host.now_s = max(self.host.now_s, moment_s)


EACH = 12
"""Worlds of each kind with others on the device."""

MOST_EARLY_LAUNCHES = 255
"""Launches within which others come for the first time."""


def draw_worlds(rng: np.random.Generator) -> tuple[DeviceWorld, ...]:
    """Draw the worlds of one exam, in random order: two calm ones, and `EACH` of two kinds with others on the device.

    Others come during another of the early launches in each world of a kind. So a method that one visit at the wrong
    moment leads astray meets it in every exam, not only in some.
    """
    disturbed = (
        ("short work on a device that others use too", (20e-6, 40e-6)),
        ("longer work on a device that others use too", (0.2e-3, 0.4e-3)),
    )
    worlds = [
        _world(rng, "short work", (20e-6, 40e-6), None),
        _world(rng, "longer work", (0.4e-3, 0.8e-3), None),
    ]
    worlds += [_world(rng, *kind, first) for kind in disturbed for first in early_calls(rng, MOST_EARLY_LAUNCHES, EACH)]
    return shuffled(rng, worlds)


def _world(rng: np.random.Generator, title: str, work_s: tuple[float, float], first: int | None) -> DeviceWorld:
    """Draw a world in which others come during the `first` warm launch; None for a device of one's own."""
    tick_s = 1e-7
    return DeviceWorld(
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
    """Others have the device for 8 to 12 ms, and again after every 30 to 40 ms."""
    quiet = rng.uniform(30e-3, 40e-3, 64)
    taken = rng.uniform(8e-3, 12e-3, 64)
    pairs = zip(quiet.tolist(), taken.tolist(), strict=True)
    return LateWeather([part for quiet_s, taken_s in pairs for part in ((taken_s, STANDSTILL), (quiet_s, 1.0))])
