"""Task (b): does g compute what f computes? Accept what rounding can explain, reject all else, in few calls.

Nine worlds: three right implementations, six wrong ones, each found out by another careless comparison. `==` and the
defaults of `allclose` reject right ones; a tolerance that fits float32 accepts what spoils float64 and int64; a NaN, an
answer too short and an input spoilt by g slip through comparisons that look right.

Gain: the baseline asks for everything anew in each row. Asking once a case gains 8× in every world. Stopping at the
first difference gains again where there is one, in six worlds of nine: 36× in the middle of 150 draws, and 24× in the
unluckiest of them.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import MeteredExam, Task, Tier

from .worlds import draw_worlds

AGREES = Task(
    lesson="01_correct_first",
    name="agrees",
    summary="three right implementations accepted, six wrong ones rejected, in few calls",
    points=10,
    cost=Cost.CALLS,
    tiers=(Tier(1.5, 0.6), Tier(3.5, 0.8), Tier(11, 1.0)),
    hints=(
        "Which calls could you do without? And what is there left to learn once one case has shown a difference?",
        (
            "For every case: one call of g, one of f. First compare how many numbers there are. Then take the rows one "
            "by one: is f's value a finite number, NaN, or infinite? Each wants a comparison of its own."
        ),
        (
            "Call g(case) before f(case), so that f meets what g left behind. Return False when the lengths differ; "
            "when f has NaN and g has not; when f is infinite and g not the same; when abs(g - f) is above (n + 1) * "
            "eps * magnitude, eps being 2**-23, 2**-52 or 0 by the case's dtype. Return True after the last case."
        ),
    ),
    exam=MeteredExam(draw_worlds, torch=True),
    folder=Path(__file__).parent,
    read="lesson 01, step 3",
    idea=(
        "one call of each function a case, g first, so that what g spoils is seen by f. Then every row is compared by "
        "what f has there: NaN wants NaN, an infinity the same one, and a finite number a difference within the "
        "rounding bound, written so that a NaN fails it. The first difference ends it: nothing is left to learn."
    ),
    read_on=(
        "Higham, Accuracy and Stability of Numerical Algorithms, chapter 3, for the bound; torch.testing.assert_close, "
        "whose tolerances go by the dtype."
    ),
)
