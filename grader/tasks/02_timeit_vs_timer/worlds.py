"""The simulated worlds of lesson 02: a function that can be called, lists that can be sorted, and a clock.

In both, the planted truth is the undisturbed time of one call of the function that is measured, once warm.
The cost is how often it was called.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.task import Metered, Mismatch
from grader.tasks.answers import compare_seconds
from grader.tasks.simulated import LateWeather, Machine, want_no_arguments
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
    advice: str
    machine: Machine
    per_call_s: float
    cold_s: tuple[float, ...] = ()
    interrupted: int | None = None
    calls: int = 0

    @property
    def arguments(self) -> tuple[Metered, ...]:
        """The function to measure, and the clock."""
        return (Metered(self.measured), Metered("clock"))

    @property
    def cost(self) -> float:
        """How often the measured function was called."""
        return self.calls

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Answer the measured function (nothing, after its time) or the clock (seconds)."""
        want_no_arguments(name, arguments)
        if name == "clock":
            return self.machine.read()
        cold_s = self.cold_s[self.calls] if self.calls < len(self.cold_s) else 0.0
        if self.calls == self.interrupted and isinstance(self.machine.weather, LateWeather):
            self.machine.weather.begin(self.machine.now_s + self.per_call_s / 2)
        self.calls += 1
        self.machine.work(self.per_call_s + cold_s)
        return None

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare with the planted seconds a call."""
        return compare_seconds(answer, self.per_call_s, ALLOWED, self.advice)


@dataclass
class ListWorld:
    """Lists to make and a function `measured` to give them to.

    A list travels as its name ("list 7"). With `sorts`, the measured function leaves its list sorted, and
    takes only `sorted_share` of its time on a list that is sorted already.
    """

    function: str
    measured: str
    title: str
    advice: str
    machine: Machine
    make_s: float
    per_call_s: float
    sorts: bool = False
    sorted_share: float = 0.05
    calls: int = 0
    is_sorted: dict[str, bool] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[Metered, ...]:
        """What makes a list, the function to measure, and the clock."""
        return (Metered("make_list"), Metered(self.measured), Metered("clock"))

    @property
    def cost(self) -> float:
        """How often the measured function was called."""
        return self.calls

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Answer `make_list` (a new list's name), the measured function (nothing), or the clock (seconds)."""
        if name == self.measured:
            self._measure(arguments)
            return None
        want_no_arguments(name, arguments)
        if name == "clock":
            return self.machine.read()
        self.machine.work(self.make_s)
        name = f"list {len(self.is_sorted) + 1}"
        self.is_sorted[name] = False
        return name

    def _measure(self, arguments: Sequence[Value]) -> None:
        given = arguments[0] if len(arguments) == 1 else None
        if not isinstance(given, str) or given not in self.is_sorted:
            raise ValueError(f"{self.measured}(numbers) takes one list, as make_list() returned it.")
        self.calls += 1
        self.machine.work(self.per_call_s * (self.sorted_share if self.is_sorted[given] else 1.0))
        self.is_sorted[given] = self.sorts

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare with the planted seconds that one call takes on a fresh list."""
        return compare_seconds(answer, self.per_call_s, ALLOWED, self.advice)
