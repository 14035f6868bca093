"""Task (a) of lesson 08: find the function that became slower, from two recorded profiles of a small C program.

Only the answer counts, because nothing is measured.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import SimulatedExam, Task

from .scenarios import draw_scenarios

CULPRIT = Task(
    lesson="08_callgrind",
    name="culprit",
    summary="find the function that became worse, from two counts",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(),
    hints=(
        (
            "A function executes more instructions if it became worse, and also if it is called more often. How do you "
            "distinguish these two causes?"
        ),
        (
            "Inclusive instructions divided by calls are the inclusive cost of one call. If this cost is the same in "
            "both counts, nothing changed in the function or in functions that it calls. The cost changes in the "
            "culprit, and in all functions that call the culprit, directly or indirectly."
        ),
        (
            'For each function, compute excess = inclusive - calls × (inclusive before / calls before), where "before" '
            "means the numbers of the first count. The culprit and all functions above it have about the same excess. "
            "Take the functions with at least 80 % of the largest excess. Of these, the culprit has the fewest "
            "inclusive instructions. In the first count, look up the whole name of a function, and then the part of "
            "the name before its first dot."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="pairs of counts"),
    folder=Path(__file__).parent,
    read="lesson 08, “The additional instructions of a broadcast”",
    idea=(
        "The inclusive cost of one call does not change in a function that is only called more often. So the "
        "additional cost is large only in the culprit and in the functions that call it. Of the functions with a large "
        "additional cost, the culprit is the lowest in the call tree. Own instructions alone would name the wrong "
        "function if the culprit makes other functions do the work."
    ),
    references=(
        "callgrind_annotate --tree=both shows callers and callees, and KCachegrind draws them. Lesson 09 finds slow "
        "functions in a profile of times."
    ),
)
