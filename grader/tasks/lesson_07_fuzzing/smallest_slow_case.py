"""Task (a) of lesson 07: reduce a slow input to the smallest slow input, in few measurements.

In each scenario, a matrix is slow if its rows, columns and step have at least certain sizes. In some scenarios it must
also be transposed. The matrix with exactly these sizes is the right answer. About one random matrix in ten is slow.
From such a matrix, bisection finds the answer in about 30 comparisons, but reducing step by step takes hundreds. The
baseline, with which submissions are compared, starts from the largest slow matrix of 60, so that its cost does not
depend on luck.
"""

from grader.kinds.simulated import CALLS
from grader.task import SimulatedExam, Task, Tier

from .scenarios import draw_scenarios

SMALLEST_SLOW_CASE = Task(
    summary="find the smallest case on which an operation is slow, in few measurements",
    cost=CALLS,
    tiers=(Tier(1.4, 0.6), Tier(2.7, 0.8), Tier(5.1, 1.0)),
    hints=(
        "A case larger than a slow case is slow too. If a case is not slow, which other cases are not slow either?",
        (
            "Draw until a case is slow, then reduce one part after the other. A case with 1 row may be fast, and a "
            "case with the drawn number of rows is slow. Which number of rows between 1 and the drawn number do you "
            "try next? Which numbers of rows does each result exclude?"
        ),
        (
            "Bisect the rows, then the columns, then the step. At the end, try the case without transposing. Drawing a "
            "case costs nothing: draw about 500 cases, and begin with the largest transposed case with a step. A "
            "disturbance only adds time, so measure again only a case that looks slow. The time of a plain counterpart "
            "is a fixed time plus a time per element. So measure two plain cases of different sizes twice each, and "
            "compute from their times the time of every plain counterpart."
        ),
    ),
    exam=SimulatedExam(draw_scenarios),
    read="lesson 07, “Smaller, and still slow”",
    idea=(
        "The solution draws many cases and measures few. From the times of two plain cases, it computes the time of "
        "every plain counterpart. So one measurement of a case shows whether this case may be slow. Only a case that "
        "looks slow is measured again, because a disturbance only adds time. A case larger than a slow case is slow "
        "too. So the solution bisects each part of the case, one after the other."
    ),
    references=(
        "Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input (delta debugging). The library "
        "Hypothesis reduces the inputs of failing tests in the same way."
    ),
)
