"""Task (b) of lesson 12: compute the number of calls after which compiling a function pays.

Only the answer counts, because it is one number and its cost does not matter.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task
from grader.tasks.plain import PlainScenario, as_number, shown
from grader.tasks.simulated import shuffled
from grader.values import Value
from harness.rendering import units

TICK_S: Final = 2.0**-10
"""All durations are multiples of this number of seconds, so that their sums and products are exact.

As decimals, the durations have at most ten digits after the point, and at most 17 in all. So `repr` shows them exactly,
and code that computes in decimals finds the same equal totals.
"""


@dataclass(frozen=True)
class Durations(PlainScenario):
    """Three durations in seconds, and the right answer `right`, which is chosen before them."""

    title: str
    compile_s: float
    slow_s: float
    fast_s: float
    right: int | None
    function = "break_even"

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of `break_even`: the seconds compile_s, slow_s and fast_s."""
        return (self.compile_s, self.slow_s, self.fast_s)

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` if the answer is wrong, else None. The answer may be a float with a whole value."""
        right, got = self.right, as_number(answer)
        if got == right and (answer is None) == (right is None):
            return None
        given = f"compile {self.compile_s!r} s, slow {self.slow_s!r} s, fast {self.fast_s!r} s."
        return Mismatch(repr(right), shown(answer), f"{given} {self._why(got)}")

    def _why(self, got: float | None) -> str:
        if self.right is None:
            slower = "takes longer than" if self.fast_s > self.slow_s else "takes as long as"
            return f"A compiled call {slower} a call without compiling, so compiling never pays: return None."
        if got is not None and (got < 1 or not got.is_integer()):
            return "The answer must be a whole number of calls, at least 1."
        calls = self.right if got is None or got > self.right else round(got)
        compiled_s, plain_s = (self.compile_s + calls * self.fast_s, calls * self.slow_s)
        paid = "has paid already" if calls == self.right else "has not paid yet"
        after = f"After {units.some(calls, 'call')}"
        return f"{after}, the total is {compiled_s!r} s with compiling and {plain_s!r} s without: compiling {paid}."


def draw_cases(rng: np.random.Generator) -> tuple[Durations, ...]:
    """Return two random cases of each kind, in random order. The title describes the kind."""
    return shuffled(rng, [*_one_of_each(rng), *_one_of_each(rng)])


def _one_of_each(rng: np.random.Generator) -> tuple[Durations, ...]:
    fast, saved, calls = (int(n) for n in rng.integers((50, 20, 3), (2000, 1000, 5000)))
    part = int(rng.integers(1, saved))  # less than the saving of one call
    slow = fast + saved
    return (
        _case("an ordinary case", calls * saved + part, slow, fast, calls + 1),
        _case("the totals are equal after some calls", calls * saved, slow, fast, calls),
        _case("the savings miss the compile time by the smallest step", calls * saved + 1, slow, fast, calls + 1),
        _case("paid by the first call", part, slow, fast, 1),
        _case("the totals are equal after the first call", saved, slow, fast, 1),
        _case("a compiled call is slower", calls * saved, fast, slow, None),
        _case("a compiled call is slower, and compiling is free", 0, fast, slow, None),
        _case("a compiled call takes as long", calls * saved, slow, slow, None),
        _case("compiling is free", 0, slow, fast, 1),
        _case("compiling is free, and changes nothing", 0, slow, slow, 1),
        _case(
            "days of compiling, and very little saved per call", (1 << 30) + calls, fast + 1, fast, (1 << 30) + calls
        ),
    )


def _case(title: str, compile_ticks: int, slow_ticks: int, fast_ticks: int, right: int | None) -> Durations:
    return Durations(title, compile_ticks * TICK_S, slow_ticks * TICK_S, fast_ticks * TICK_S, right)


BREAK_EVEN = Task(
    summary="compute the number of calls after which compiling pays",
    cost=CALLS,
    tiers=(),
    hints=(
        "How many seconds does one compiled call save? How many compiled calls make up for the compile time?",
        (
            "Write both totals for n calls: compile_s + n × fast_s, and n × slow_s. At which n is the first total at "
            "most the second total? What is the answer if a compiled call saves no time, or if a compiled call is "
            "slower?"
        ),
        (
            "saved = slow_s - fast_s. If saved is less than 0, return None. If saved is 0, return 1 if compile_s is 0, "
            "and None otherwise. If saved is more than 0, return compile_s / saved, rounded up to a whole number "
            "(math.ceil), and at least 1."
        ),
    ),
    exam=SimulatedExam(draw_cases, needs_torch=True, scenario_noun="planted cases"),
    read="lesson 12, “When compiling pays off”",
    idea=(
        "The savings of the calls must make up for the compile time. So the answer is the compile time divided by the "
        "seconds that a compiled call saves, rounded up to a whole number. There are special cases. If a compiled call "
        "is slower, compiling never pays. If a compiled call saves no time, compiling pays only if compiling takes no "
        "time."
    ),
    references=(
        "Lesson 06 treats the noise of measured times. A small difference of two noisy times has more relative noise "
        "than either of the two times."
    ),
    correct_share=1.0,
)
