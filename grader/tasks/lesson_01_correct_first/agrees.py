"""Task (b) of lesson 01: decide whether a function g computes the same as a reference f, in few calls.

Three of the functions g are right and six are wrong. Each of them makes a different careless comparison fail. The
baseline calls f and g again for each row. Calling them only once per case needs 8 times fewer calls, and stopping at
the first difference 27 times fewer.
"""

from grader.records import Cost
from grader.task import SimulatedExam, Task, Tier

from .scenarios import draw_scenarios

AGREES = Task(
    lesson="01_correct_first",
    name="agrees",
    summary="accept three right implementations and reject six wrong ones, in few calls",
    cost=Cost.CALLS,
    tiers=(Tier(1.5, 0.6), Tier(3.5, 0.8), Tier(11, 1.0)),
    hints=(
        (
            "Which calls of f and g can you leave out? Do you need further calls after you have found one case with a "
            "difference?"
        ),
        (
            "Call g once and f once for each case. First compare how many values the two answers have. Then compare "
            "row by row: is f's value finite, NaN or infinite? A finite value, NaN and infinity each need their own "
            "comparison."
        ),
        (
            "Call g(case) before f(case), so that f computes from the tensors that g may have changed. Return False "
            "when the two answers have different lengths. Return False when f has NaN and g does not, or f is infinite "
            "and g differs. Return False when abs(g - f) exceeds (n + 1) * eps * magnitude. The case's dtype decides "
            "eps: 2**-23 for float32, 2**-52 for float64, and 0 for int64. Return True after the last case."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, torch=True),
    read="lesson 01, “The default tolerances of allclose”",
    idea=(
        "The solution calls g and then f once per case, so that f computes from any tensor that g changed. Then the "
        "solution compares every row of the two answers. Where f returns NaN or infinity, g must return the same "
        "value. Where f returns a finite number, g must be within the rounding bound. The comparison is written so "
        "that NaN is never within the bound. The solution stops at the first difference, because one wrong case "
        "decides the answer."
    ),
    references=(
        "Higham, Accuracy and Stability of Numerical Algorithms, chapter 3, explains the rounding bound. The "
        "documentation of torch.testing.assert_close lists tolerances for each dtype."
    ),
)
