"""Task (a) of lesson 09: compute own and cumulative times of each function from a call tree with totals.

The baseline, with which submissions are compared, goes through all rows for each function, and searches callers and
called rows among all rows. A single pass over the rows is 1.5 to 1.7 times as fast. With the callers on a stack, it is
2.9 to 3.9 times as fast. If each total is also subtracted from its caller, it is 9 to 20 times as fast (Python 3.11 and
3.13). The trees are random and deep, so that a search below a row takes long.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import Task, Tier, ValueExam

from .trees import draw_cases, draw_timed

OWN_TIME = Task(
    lesson="09_cprofile",
    name="own_time",
    summary="compute own and cumulative times, six times as fast as the baseline",
    points=10.0,
    cost=Cost.TIME,
    tiers=(
        Tier(1.25, 0.6),
        Tier(2.2, 0.8),
        Tier(6.0, 1.0),
    ),
    hints=(
        "Which rows can be the caller of a row? How many rows does your code read to find the caller?",
        (
            "Go through the rows once, from top to bottom. Keep a list of the open rows: the open row at depth d is "
            "the caller of the next row at depth d + 1. The own time of a row is its total minus the totals of the "
            "rows that it calls."
        ),
        (
            "Keep a list of names, called path. For each row, del path[depth:], so that path[-1] is the caller. Add "
            "the row's total to own[name], and subtract it from own[path[-1]]. Add it to cumulative[name] only if the "
            "name is not in path. Then path.append(name). Sort once at the end."
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    folder=Path(__file__).parent,
    read="lesson 09, “Own time and cumulative time”",
    idea=(
        "The rows are in the order of the calls, so the calls that have not returned form a stack. The stack gives "
        "each row's caller without a search. Own time needs no list of called rows: a row's total is added to its "
        "function and subtracted from the function of its caller. If a function is on the stack already, the total of "
        "its outer call includes the new total."
    ),
    references=(
        "CPython's Modules/_lsprof.c implements cProfile. cProfile keeps the same stack, and updates this stack at "
        "every call and return while the program runs."
    ),
)
