"""Task (b): after how many calls has compiling paid? Plain numbers, planted where a formula goes wrong.

No tiers: the answer is one number, and a student's time to find it is not measured.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from grader.records import Cost
from grader.task import Metered, MeteredExam, Mismatch, Task
from grader.tasks.answers import as_number, shown
from grader.tasks.plain import PlainWorld
from grader.values import Value
from harness import units

TICK_S: Final = 2.0**-10
"""All planted times are whole numbers of these: sums and products of them are exact, so a tie is a tie.

Written in decimals they have ten digits behind the point and at most 17 in all, so that `repr` shows them exactly, and
who reads them as decimals has the same ties.
"""


@dataclass(frozen=True)
class Case(PlainWorld):
    """One question with its answer, `right`, which is drawn first."""

    title: str
    compile_s: float
    slow_s: float
    fast_s: float
    right: int | None
    function: str = "break_even"
    cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """The three times."""
        return (self.compile_s, self.slow_s, self.fast_s)

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare with the right number; a whole number may be written as a float."""
        right, got = self.right, as_number(answer)
        if got == right and (answer is None) == (right is None):
            return None
        given = f"compile {self.compile_s!r} s, slow {self.slow_s!r} s, fast {self.fast_s!r} s."
        return Mismatch(repr(right), shown(answer), f"{given} {self._why(got)}")

    def _why(self, got: float | None) -> str:
        """Work out both sides for the calls that tell the answer from the right one."""
        if self.right is None:
            slower = "takes longer" if self.fast_s > self.slow_s else "takes as long"
            return f"A compiled call {slower}, so no number of calls earns the compiling back: that is None."
        if got is not None and (got < 1 or not got.is_integer()):
            return "The answer is a whole number of calls, 1 or more."
        calls = self.right if got is None or got > self.right else round(got)
        compiled_s, plain_s = (self.compile_s + calls * self.fast_s, calls * self.slow_s)
        paid = "has paid already" if calls == self.right else "has not paid yet"
        after = f"After {units.some(calls, 'call')}"
        return f"{after}, it is {compiled_s!r} s with compiling and {plain_s!r} s without: it {paid}."


def draw_cases(rng: np.random.Generator) -> tuple[Case, ...]:
    """Draw two of each kind; what a kind is called says what is special about it."""
    return tuple(case for _ in range(2) for case in _one_of_each(rng))


def _one_of_each(rng: np.random.Generator) -> tuple[Case, ...]:
    fast, saved, calls = (int(n) for n in rng.integers((50, 20, 3), (2000, 1000, 5000)))
    part = int(rng.integers(1, saved))  # of a call's saving, neither nothing nor all of it
    slow = fast + saved
    return (
        _case("a price like many", calls * saved + part, slow, fast, calls + 1),
        _case("exactly paid after some calls", calls * saved, slow, fast, calls),
        _case("just missed by a tick", calls * saved + 1, slow, fast, calls + 1),
        _case("paid by the first call", part, slow, fast, 1),
        _case("paid by the first call, exactly", saved, slow, fast, 1),
        _case("a compiled call is slower", calls * saved, fast, slow, None),
        _case("a compiled call is slower, and compiling free", 0, fast, slow, None),
        _case("a compiled call takes as long", calls * saved, slow, slow, None),
        _case("compiling is free", 0, slow, fast, 1),
        _case("compiling is free, and changes nothing", 0, slow, slow, 1),
        _case("days of compiling, a little saved", (1 << 30) + calls, fast + 1, fast, (1 << 30) + calls),
    )


def _case(title: str, compile_ticks: int, slow_ticks: int, fast_ticks: int, right: int | None) -> Case:
    return Case(title, compile_ticks * TICK_S, slow_ticks * TICK_S, fast_ticks * TICK_S, right)


BREAK_EVEN = Task(
    lesson="12_jit_fusion",
    name="break_even",
    summary="the number of calls after which compiling has paid",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(),
    hints=(
        "What does one compiled call save? And how often does that go into what compiling took?",
        (
            "Write both sides down for n calls: compile_s + n × fast_s, and n × slow_s. When is the first at most the "
            "second? Then ask the same where a call saves nothing, or less than nothing."
        ),
        (
            "saved = slow_s - fast_s. Less than 0: None. Equal to 0: 1 where compile_s is 0, and None else. Otherwise "
            "compile_s / saved, rounded up to a whole number (math.ceil), and at least 1."
        ),
    ),
    exam=MeteredExam(draw_cases, torch=True, worlds="planted cases"),
    folder=Path(__file__).parent,
    read="lesson 12, step 7",
    idea=(
        "what a call saves has to earn what compiling took, so it is their quotient, rounded up to a whole call. The "
        "cases beside it matter as much: nothing saved never pays, unless nothing was paid either."
    ),
    read_on="lesson 06, for how sure both times are: a small difference of two noisy times is noisier than either.",
    correct_share=1.0,
)
