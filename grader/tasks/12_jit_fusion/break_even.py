"""Task (b): after how many calls has compiling paid? Plain numbers, planted where a formula goes wrong.

No tiers: the answer is one number, and a student's time to find it is not measured.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Final

import numpy as np

from grader.records import Cost
from grader.task import Metered, MeteredExam, Mismatch, Task
from grader.tasks.answers import as_number, shown
from grader.tasks.plain import PlainWorld
from grader.values import Value

TICK_S: Final = 2.0**-10
"""All planted times are whole numbers of these: sums and products of them are exact, so a tie is a tie.

Written in decimals they have ten digits behind the point and at most 17 in all, so that `repr` shows them exactly, and
who reads them as decimals has the same ties.
"""


@dataclass(frozen=True)
class Case(PlainWorld):
    """One question with its answer."""

    title: str
    advice: str
    compile_s: float
    slow_s: float
    fast_s: float
    function: str = "break_even"
    cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """The three times."""
        return (self.compile_s, self.slow_s, self.fast_s)

    @property
    def right(self) -> int | None:
        """The right answer, in fractions, which know no rounding."""
        saved = Fraction(self.slow_s) - Fraction(self.fast_s)
        if saved < 0 or (saved == 0 and self.compile_s > 0):
            return None
        return max(1, ceil(Fraction(self.compile_s) / saved)) if saved else 1

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare with the right number; a whole number may be written as a float."""
        right, got = self.right, as_number(answer)
        if got == right and (answer is None) == (right is None):
            return None
        given = f"compile {self.compile_s!r} s, slow {self.slow_s!r} s, fast {self.fast_s!r} s. "
        return Mismatch(repr(right), shown(answer), given + self.advice)


NEVER: Final = "What does a call save here? No number of calls earns it back: that is None."
TIE: Final = "Work out both sides for the calls you named, and for one fewer. Equal counts as paid."
NOTHING: Final = "Compiling costs nothing here, so what decides is a single call."
DIFFERENCE: Final = "A compiled call takes time too. What does one of them save?"


def draw_cases(rng: np.random.Generator) -> tuple[Case, ...]:
    """Draw two of each kind; what a kind is called says what is special about it."""
    return tuple(case for _ in range(2) for case in _one_of_each(rng))


def _one_of_each(rng: np.random.Generator) -> tuple[Case, ...]:
    fast, saved, calls = (int(n) for n in rng.integers((50, 20, 3), (2000, 1000, 5000)))
    part = int(rng.integers(1, saved))  # of a call's saving, neither nothing nor all of it
    slow = fast + saved
    return (
        _case("a price like many", DIFFERENCE, calls * saved + part, slow, fast),
        _case("exactly paid after some calls", TIE, calls * saved, slow, fast),
        _case("just missed by a tick", TIE, calls * saved + 1, slow, fast),
        _case("paid by the first call", TIE, part, slow, fast),
        _case("paid by the first call, exactly", TIE, saved, slow, fast),
        _case("a compiled call is slower", NEVER, calls * saved, fast, slow),
        _case("a compiled call is slower, and compiling free", NEVER, 0, fast, slow),
        _case("a compiled call takes as long", NEVER, calls * saved, slow, slow),
        _case("compiling is free", NOTHING, 0, slow, fast),
        _case("compiling is free, and changes nothing", NOTHING, 0, slow, slow),
        _case("days of compiling, a little saved", TIE, (1 << 30) + calls, fast + 1, fast),
    )


def _case(title: str, advice: str, compile_ticks: int, slow_ticks: int, fast_ticks: int) -> Case:
    return Case(title, advice, compile_ticks * TICK_S, slow_ticks * TICK_S, fast_ticks * TICK_S)


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
