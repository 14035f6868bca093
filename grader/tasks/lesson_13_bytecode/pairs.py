"""Task (b) of lesson 13: count pairs of opcodes, with the loops in C instead of Python.

The baseline, with which submissions are compared, searches each pair in a list of rows. With a trace of 5000 opcodes, a
list of data classes is 4.5 to 6 times as fast. A dict with a loop over indices is 16 to 22 times as fast, and a loop
over `zip` with `get` or a Counter 30 to 50 times (Python 3.11 and 3.13).
"""

from pathlib import Path

from grader.records import Cost
from grader.task import Task, Tier, ValueExam

from .traces import draw_cases, draw_timed

PAIRS = Task(
    lesson="13_bytecode",
    name="pairs",
    summary="count which opcodes follow each other, 26 times as fast as the baseline",
    points=10.0,
    cost=Cost.TIME,
    tiers=(
        Tier(10.0, 0.6),
        Tier(26.0, 1.0),
    ),
    hints=(
        (
            "Does your code search all rows for each pair? A dict finds a pair without a search. Then count the "
            "opcodes of one round of your loop (dis.dis shows them). How many of these opcodes only fetch the two "
            "names?"
        ),
        (
            "A for loop over zip(trace, trace[1:]) gives both names without an index. A comprehension needs no calls "
            "of append. But as long as Python loops over the names, it executes several opcodes per name."
        ),
        (
            "Move the loop into C: Counter(zip(trace, trace[1:])) executes a few opcodes for a trace of any length. "
            "Sorting is stable, so sort the pairs by name first, and then by number. With key=counter.__getitem__ the "
            "sort calls no Python code."
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    folder=Path(__file__).parent,
    read="lesson 13, “Counting executed opcodes”",
    idea=(
        "The interpreter executes opcodes only for Python code, so the solution moves the loop into C: zip (or "
        "itertools.pairwise) and Counter go through the trace in C. The solution does the remaining work once for each "
        "different pair. Do not mistake the count for a time: a call of a builtin is one opcode, or two in Python "
        "3.11, whether it takes nanoseconds or minutes."
    ),
    references=(
        "The documentation of the module dis lists all opcodes. The developers of Python chose its superinstructions, "
        "such as LOAD_FAST_LOAD_FAST, from such counts of pairs."
    ),
    least_gain=1.3,
)
