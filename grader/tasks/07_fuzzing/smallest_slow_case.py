"""Task (a): from a slow input to the smallest one, in few measurements.

Each world plants one trap, a box of cases: enough rows, enough columns, a wide enough step, the order. The smallest
slow case is the box's corner. A fuzzer meets the box about once in ten draws; from there on, halving what is left of
each side finds the corner in about thirty comparisons, where walking takes hundreds. The baseline walks from the
largest of thirty draws, so that a lucky first draw moves nobody's tier.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import MeteredExam, Task, Tier

from .worlds import draw_worlds

SMALLEST_SLOW_CASE = Task(
    lesson="07_fuzzing",
    name="smallest_slow_case",
    summary="the smallest case on which an operation is slow, in few measurements",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(Tier(1.4, 0.6), Tier(2.7, 0.8), Tier(5.1, 1.0)),
    hints=(
        "A slow case stays slow when it grows. So what do you know of all larger ones, once you know one that is not?",
        (
            "Draw until a case is slow, then reduce one part after the other. Between 1 row, which may be fast, and "
            "the rows you have, which are slow: where would you look next, and what does either answer rule out?"
        ),
        (
            "Bisect rows, then columns, then the step, and try transposed last. Draw some hundred cases first, for "
            "drawing is free, and begin with the largest of the oddest. A disturbance only adds time: measure again "
            "only what looks slow. And a plain case costs a fixed time plus a time for each element, so that two "
            "sizes, measured twice each, tell the time of every plain twin."
        ),
    ),
    exam=MeteredExam(draw_worlds),
    folder=Path(__file__).parent,
    read="lesson 07, step 7",
    idea=(
        "draw freely, measure rarely. Two plain sizes tell what every plain twin costs, so slowness is asked with one "
        "measurement, and repeated only when the answer is yes, since a disturbance only adds time. A slow case stays "
        "slow when it grows: so each part is bisected, one after the other."
    ),
    read_on=(
        "Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input (delta debugging); the shrinking of "
        "Hypothesis, which does this for tests."
    ),
)
