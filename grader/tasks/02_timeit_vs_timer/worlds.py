"""The simulated worlds of lesson 02: a function that can be called, lists that can be sorted, and a clock.

In both, the planted truth is the undisturbed time of one call of the function that is measured, once warm.
The cost is how often it was called.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.task import Metered, Mismatch
from grader.tasks.answers import compare_seconds
from grader.tasks.causes import Truth, why
from grader.tasks.intervals import Part, Recorder
from grader.tasks.simulated import LateWeather, Machine, doubled, want_no_arguments
from grader.values import Value

ALLOWED = 0.01
"""The error allowed, as a share of the truth (CURRICULUM, lesson 02)."""


@dataclass
class CallWorld:
    """A function `measured` that takes `per_call_s`; its first calls take `cold_s` more, one entry a call.

    The machine's weather, where it is a `LateWeather`, begins during the call after `interrupted` others.
    """

    function: str
    measured: str
    title: str
    machine: Machine
    per_call_s: float
    cold_s: tuple[float, ...] = ()
    interrupted: int | None = None
    seen: Recorder = field(default_factory=Recorder)

    @property
    def arguments(self) -> tuple[Metered, ...]:
        """The function to measure, and the clock."""
        return (Metered(self.measured), Metered("clock"))

    @property
    def cost(self) -> float:
        """How often the measured function was called."""
        return self.seen.calls

    @property
    def plain_cost(self) -> float:
        """Forty blocks of each size, doubled until one takes 200 steps of the clock, after three calls to warm up."""
        return 3 + 40 * doubled(200 * self.machine.step_s, self.per_call_s)

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Answer the measured function (nothing, after its time) or the clock (seconds)."""
        want_no_arguments(name, arguments)
        if name == "clock":
            return _read(self.machine, self.seen)
        calls = self.seen.calls
        cold_s = self.cold_s[calls] if calls < len(self.cold_s) else 0.0
        if calls == self.interrupted and isinstance(self.machine.weather, LateWeather):
            self.machine.weather.begin(self.machine.now_s + self.per_call_s / 2)
        self.seen.called()
        self.seen.add(Part.FIRST_CALLS, cold_s)
        self.seen.add(Part.INTERRUPTED, self.machine.work(self.per_call_s + cold_s))
        return None

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare with the planted seconds a call."""
        truth = _truth(self.measured, self.per_call_s, self.machine)
        return compare_seconds(answer, self.per_call_s, ALLOWED, lambda got_s: why(got_s, self.seen, truth))


@dataclass
class ListWorld:
    """Lists to make and a function `measured` to give them to.

    A list travels as its name ("list 7"). With `sorts`, the measured function leaves its list sorted, and
    takes only `sorted_share` of its time on a list that is sorted already.
    """

    function: str
    measured: str
    title: str
    machine: Machine
    make_s: float
    per_call_s: float
    sorts: bool = False
    sorted_share: float = 0.05
    seen: Recorder = field(default_factory=Recorder)
    is_sorted: dict[str, bool] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[Metered, ...]:
        """What makes a list, the function to measure, and the clock."""
        return (Metered("make_list"), Metered(self.measured), Metered("clock"))

    @property
    def cost(self) -> float:
        """How often the measured function was called."""
        return self.seen.calls

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Answer `make_list` (a new list's name), the measured function (nothing), or the clock (seconds)."""
        if name == self.measured:
            self._measure(arguments)
            return None
        want_no_arguments(name, arguments)
        if name == "clock":
            return _read(self.machine, self.seen)
        self.machine.work(self.make_s)
        self.seen.add(Part.MAKING, self.make_s)
        name = f"list {len(self.is_sorted) + 1}"
        self.is_sorted[name] = False
        return name

    def _measure(self, arguments: Sequence[Value]) -> None:
        given = arguments[0] if len(arguments) == 1 else None
        if not isinstance(given, str) or given not in self.is_sorted:
            raise ValueError(f"{self.measured}(numbers) takes one list, as make_list() returned it.")
        work_s = self.per_call_s * (self.sorted_share if self.is_sorted[given] else 1.0)
        self.machine.work(work_s)
        self.seen.called()
        self.seen.add(Part.SORTED, work_s - self.per_call_s)
        self.is_sorted[given] = self.sorts

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare with the planted seconds that one call takes on a fresh list."""
        truth = _truth(self.measured, self.per_call_s, self.machine)
        return compare_seconds(answer, self.per_call_s, ALLOWED, lambda got_s: why(got_s, self.seen, truth))


def _read(machine: Machine, seen: Recorder) -> float:
    shown_s = machine.read()
    seen.read(shown_s)
    return shown_s


def _truth(measured: str, per_call_s: float, machine: Machine) -> Truth:
    return Truth(measured, per_call_s, machine.step_s, quiet_s=machine.weather.quiet_s)
