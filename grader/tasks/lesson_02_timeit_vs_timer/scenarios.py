"""The simulated scenarios of lesson 02: a function to measure, and a clock.

The right answer is the undisturbed time of one warm call of the measured function. The cost is the number of its calls.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.task import Mismatch, SimulatedFunction
from grader.tasks.causes import CallTruth, why
from grader.tasks.intervals import AddedTime, CallRecorder
from grader.tasks.plain import compare_seconds
from grader.tasks.simulated import LateWeather, Machine, doubled, want_no_arguments
from grader.values import Value

ALLOWED = 0.01
"""The allowed error, as a share of the right answer."""


@dataclass
class CallScenario:
    """A measured function that takes `per_call_s` seconds. Its first calls take `cold_s` more, one entry per call.

    The machine's disturbances (`LateWeather`) begin during the call that follows `interrupted` other calls.
    """

    function: str
    measured: str
    title: str
    machine: Machine
    per_call_s: float
    cold_s: tuple[float, ...] = ()
    interrupted: int | None = None
    seen: CallRecorder = field(default_factory=CallRecorder)

    @property
    def arguments(self) -> tuple[SimulatedFunction, ...]:
        """The arguments of the submission: the function to measure, and the clock."""
        return (SimulatedFunction(self.measured), SimulatedFunction("clock"))

    @property
    def cost(self) -> float:
        """The number of calls of the measured function, or 1 if there was no call."""
        return max(1, self.seen.calls)

    @property
    def plain_cost(self) -> float:
        """Return the number of calls of the simple method with which submissions are compared.

        It makes 3 calls to warm up. Then it times 40 blocks each of 1, 2, 4 … calls, up to the first size that lasts
        200 clock steps.
        """
        return 3 + 40 * doubled(200 * self.machine.step_s, self.per_call_s)

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Simulate a call of the measured function, or return the clock's reading in seconds."""
        want_no_arguments(name, arguments)
        if name == "clock":
            shown_s = self.machine.read()
            self.seen.read(shown_s)
            return shown_s
        calls = self.seen.calls
        cold_s = self.cold_s[calls] if calls < len(self.cold_s) else 0.0
        if calls == self.interrupted and isinstance(self.machine.weather, LateWeather):
            self.machine.weather.begin(self.machine.now_s + self.per_call_s / 2)
        self.seen.called()
        self.seen.add(AddedTime.FIRST_CALLS, cold_s)
        self.seen.add(AddedTime.INTERRUPTED, self.machine.work(self.per_call_s + cold_s))
        return None

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` if the answer differs from the true seconds per undisturbed call, else None."""
        truth = CallTruth(self.measured, self.per_call_s, self.machine.step_s, quiet_s=self.machine.weather.quiet_s)
        return compare_seconds(answer, self.per_call_s, ALLOWED, lambda got_s: why(got_s, self.seen, truth))


@dataclass
class ListScenario(CallScenario):
    """A function that makes a list in `make_s` seconds, and a measured function that takes a list.

    A list is represented by its name, such as "list 7". With `sorts`, the measured function leaves its list sorted. For
    a list that is already sorted, the measured function takes only the share `sorted_share` of its time.
    """

    make_s: float = 0.0
    sorts: bool = False
    sorted_share: float = 1.0
    is_sorted: dict[str, bool] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[SimulatedFunction, ...]:
        """The arguments of the submission: `make_list`, the function to measure, and the clock."""
        return (SimulatedFunction("make_list"), *super().arguments)

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Return a new list's name, simulate a measured call, or return the clock's reading in seconds."""
        if name == self.measured:
            self._measure(arguments)
            return None
        if name == "clock":
            return super().call(name, arguments)
        want_no_arguments(name, arguments)
        self.machine.work(self.make_s)
        self.seen.add(AddedTime.MAKING, self.make_s)
        made = f"list {len(self.is_sorted) + 1}"
        self.is_sorted[made] = False
        return made

    def _measure(self, arguments: Sequence[Value]) -> None:
        given = arguments[0] if len(arguments) == 1 else None
        if not isinstance(given, str) or given not in self.is_sorted:
            raise ValueError(f"{self.measured}(numbers) takes one list that make_list() returned.")
        work_s = self.per_call_s * (self.sorted_share if self.is_sorted[given] else 1.0)
        self.machine.work(work_s)
        self.seen.called()
        self.seen.add(AddedTime.SORTED, work_s - self.per_call_s)
        self.is_sorted[given] = self.sorts
