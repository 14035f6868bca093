"""Task (a): at which size does the winner change? Bisection, with a comparison that noise does not sway.

Gain: the baseline walks up the range in steps of 8 %, comparing eighteen measurements at each; the solution halves the
range on a logarithmic scale, and stops comparing as soon as one has won five times. That is about 20 times less.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import MeteredExam, Task, Tier

from .worlds import MOST_MEASUREMENTS, draw_worlds

CROSSOVER = Task(
    lesson="05_compare",
    name="crossover",
    summary="the size at which the winner changes, in few measurements",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(Tier(1.3, 0.6), Tier(2.5, 0.8), Tier(5.8, 1.0)),
    hints=(
        "If f wins at one size and g at a larger one, the change lies between them. Which size would you try next?",
        (
            "Write a helper that says which of the two is faster at one size: measure f and g right after each other, "
            "several times over, and count who wins how often. Call it at both ends first."
        ),
        (
            "Sizes reach from 1 to a million, and 5 % is exact enough: the middle of low and high is here "
            "sqrt(low × high), and you can stop once high is 2 % above low. Let the helper stop as soon as one of the "
            "two has won five rounds: where the difference is clear, that is after five."
        ),
    ),
    exam=MeteredExam(draw_worlds, max_calls=MOST_MEASUREMENTS, forgiven=2),
    folder=Path(__file__).parent,
    read="lesson 05, step 4",
    idea=(
        "bisection on a logarithmic scale: the middle is the square root of low times high, so about a dozen sizes are "
        "enough for six decades. At each, f and g are measured in turn until one has won five times. A round in which "
        "one was interrupted is one lost round, however long the interruption; and a machine that changes its speed "
        "changes it for both sides of nearly every round."
    ),
    read_on="lesson 06, where such a race becomes a test with a promise; harness.duel, which can also say SAME.",
)
