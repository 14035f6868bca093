"""Task (b) of lesson 13: count pairs of opcodes with a 150th of the opcodes that the baseline executes.

The baseline, with which submissions are compared, searches each pair in a list of rows. With a trace of 2500 opcodes on
Python 3.11, a dict executes 14 to 18 times fewer opcodes. A loop over `zip` with `get` executes 29 to 39 times fewer,
and a Counter of a generator expression 64 to 84 times fewer. A Counter of `zip` executes 360 to 580 times fewer, and
770 to 930 times fewer without a loop over the rows.

A baseline with a dict would be faster, and would distinguish honest solutions less clearly.

CPU time does not distinguish tiers 1 and 2. A Counter of a generator needs half of the opcodes of a loop with `get`,
but as much CPU time. Without a counter, tier 3 needs as much CPU time too. So a submission of tier 1 with a forged
count can earn tier 2. If it also stops the counter, it can earn tier 3 (`grader/trials/cpu_time.py`).
"""

from pathlib import Path

from grader.records import Cost
from grader.task import Task, Tier, ValueExam

from .traces import draw_cases, draw_timed

PAIRS = Task(
    lesson="13_bytecode",
    name="pairs",
    summary="count which opcodes follow each other, with a 150th of the opcodes that the baseline executes",
    points=10.0,
    cost=Cost.TIME,
    tiers=(
        Tier(9.0, 0.6, cpu_gain=8.5, counting_gain=6.8),
        Tier(50.0, 0.8, cpu_gain=17.0, counting_gain=19.0),
        Tier(150.0, 1.0, cpu_gain=17.0, counting_gain=98.0),
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
)
