"""Task (a) of lesson 05: find the size at which the faster function changes, by bisection and robust comparisons.

The baseline, with which submissions are compared, tries the sizes in steps of 8 %, with 18 measurements at each. The
solution halves the range on a logarithmic scale, and stops a comparison when one function has won five rounds. It needs
about 13 times fewer measurements.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import SimulatedExam, Task, Tier

from .scenarios import MOST_MEASUREMENTS, draw_scenarios

CROSSOVER = Task(
    lesson="05_compare",
    name="crossover",
    summary="find the size at which the faster function changes, in few measurements",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(Tier(1.3, 0.6), Tier(2.5, 0.8), Tier(5.8, 1.0)),
    hints=(
        (
            "If f is faster at one size and g at a larger size, the change lies between them. Which size between these "
            "two do you try next?"
        ),
        (
            "Write a helper that returns which function is faster at one size. This helper measures f and g right "
            "after each other, several times, and counts how often each function wins. First call this helper for the "
            "smallest and the largest size."
        ),
        (
            "Sizes range from 1 to a million, and an error of 5 % is allowed. So take sqrt(low × high) as the middle "
            "of the sizes low and high, and stop when high is 2 % above low. Let the helper stop when one function has "
            "won five rounds. If one function is clearly faster, five rounds are enough."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, max_calls=MOST_MEASUREMENTS, forgiven=2),
    folder=Path(__file__).parent,
    read="lesson 05, “Where the winner changes”",
    idea=(
        "The solution bisects on a logarithmic scale. The middle of two sizes is the square root of their product. So "
        "about a dozen sizes between 1 and a million are enough. At each size, the solution measures f and g "
        "alternately until one of them was faster in five rounds. An interruption spoils only one round, however long "
        "it is. A change of the machine's speed affects f and g alike in nearly every round."
    ),
    references=(
        "Lesson 06 turns such a comparison into a test with guaranteed error rates. harness.paired.duel can also "
        "report SAME, if there is no difference."
    ),
)
