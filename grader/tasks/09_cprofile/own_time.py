"""Task (a): own and cumulative time of each function, from a call tree with totals only.

The baseline goes through all rows for each function, and looks for called and callers among all of them. Going through
them once is 1.8 times fewer opcodes, with the callers on a stack 5.4 times, with the called taken off their caller as
well 24 to 25 times. Trees are recorded and keep their shapes, so that none of this depends on what is drawn. It does a
little on Python's version, whose opcodes are others; these are of 3.11.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import CountedExam, Task, Tier
from grader.tasks.plain import right_rows

from .trees import draw_cases, draw_counted

OWN_TIME = Task(
    lesson="09_cprofile",
    name="own_time",
    summary="own and cumulative time of each function, in an eighth of the baseline's executed opcodes",
    points=10.0,
    cost=Cost.OPCODES,
    tiers=(Tier(1.25, 0.6), Tier(4.0, 0.8), Tier(8.0, 1.0)),
    hints=(
        "Which rows does a row's caller have to be found among? And how many of them do you look at to find it?",
        (
            "Go through the rows once, from top to bottom, and keep a list of the rows that are open: the one at depth "
            "d is the caller of whatever comes next at depth d + 1. Its own time is its total less theirs."
        ),
        (
            "Keep path, a list of names. At each row: del path[depth:], so that path[-1] is the caller. Add the row's "
            "total to own[name] and take it from own[path[-1]]. Add it to cumulative[name] only if the name is not in "
            "path. Then path.append(name). Sort once, at the end."
        ),
    ),
    exam=CountedExam(draw_cases, draw_counted, right_rows, timed_draws=150),
    folder=Path(__file__).parent,
    read="lesson 09, step 2",
    idea=(
        "the rows come in the order of the calls, so the open ones are a stack, and it tells each row's caller without "
        "a search. Own time needs no list of children: what a row takes is added to its own function and taken from "
        "its caller's. And a function that is on the stack already is inside a total that has been counted."
    ),
    read_on=(
        "CPython's Modules/_lsprof.c, which is cProfile: it keeps the same stack, and does this at every call and "
        "return while the program runs."
    ),
)
