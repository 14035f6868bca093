"""Task (a): which function was made worse? Two real counts of a small C program, and what misleads in them.

No tiers: the two counts are there, and reading them costs nothing.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import MeteredExam, Task

from .worlds import draw_worlds

CULPRIT = Task(
    lesson="08_callgrind",
    name="culprit",
    summary="the function that was made worse, named from two counts",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(),
    hints=(
        "A function has more instructions when it got worse, or is called more often. What tells the two apart?",
        (
            "Inclusive instructions divided by calls are what one call costs, all it calls included. Where that is as "
            "before, nothing has changed in the function or below it. It has in the culprit, and in whoever calls it."
        ),
        (
            "For each function: excess = inclusive - calls × (inclusive before / calls before). The culprit and all "
            "above it up to main have about the same excess; take those with 80 % of the largest, and of them the one "
            "with the fewest inclusive instructions: the lowest. Look a name up as it is, and if it is not "
            "there, without what follows its first dot."
        ),
    ),
    exam=MeteredExam(draw_worlds, worlds="pairs of counts"),
    folder=Path(__file__).parent,
    read="lesson 08, step 6",
    idea=(
        "what one call costs, all that it calls included, does not change in a function that is merely called more "
        "often: so the excess over that finds the culprit and everybody above it, and the lowest of these is the "
        "culprit. Its own instructions alone would name a victim whenever the culprit asks others to do the work."
    ),
    read_on=(
        "callgrind_annotate --tree=both, which shows callers and callees, and KCachegrind, which draws them; lesson 09 "
        "asks the same of a profile in time."
    ),
)
