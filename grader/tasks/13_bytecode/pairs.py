"""Task (b): the same rows in a twelfth of the baseline's executed opcodes, counted by Python's own events.

The baseline goes through the trace by an index, and asks a dict twice for each pair. Over 2500 opcodes: going over
`zip` and asking with `get` is 2.1 to 2.3 times fewer, a Counter of a generator expression 4.5, a Counter of what
`zip` gives 30 to 34, and without a loop over the rows either 39 to 49. That is on Python 3.11, 3.12 and 3.13: the
opcodes are others, the ratios much the same. A count is the same each time, on any machine.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import CountedExam, Task, Tier
from grader.tasks.plain import right_rows

from .traces import draw_cases, draw_counted

PAIRS = Task(
    lesson="13_bytecode",
    name="pairs",
    summary="which opcodes follow each other, in a twelfth of the baseline's executed opcodes",
    points=10.0,
    cost=Cost.OPCODES,
    tiers=(Tier(1.45, 0.6), Tier(3.0, 0.8), Tier(12.0, 1.0)),
    hints=(
        "Count the opcodes of one round of your loop (dis.dis shows them). How many of them only fetch the two names?",
        (
            "A for loop over zip(trace, trace[1:]) hands out both names without an index. And a comprehension leaves "
            "out what append costs. But as long as Python goes round once a name, it is several opcodes a name."
        ),
        (
            "Let C go round: collections.Counter counts whatever it is given, so Counter(zip(trace, trace[1:])) is a "
            "handful of opcodes for a trace of any length. Sort the pairs by name first and by number after: a sort "
            "keeps the order of equals, and with key=counter.__getitem__ it calls nothing that is written in Python."
        ),
    ),
    exam=CountedExam(draw_cases, draw_counted, right_rows),
    folder=Path(__file__).parent,
    read="lesson 13, step 3",
    idea=(
        "opcodes are what the interpreter goes round for, so a loop is moved to where there is no interpreter: zip (or "
        "itertools.pairwise) and Counter go over the trace in C. What is left is done once for each different pair. "
        "Beware of reading the count as a time: a builtin is one opcode, whether it takes nanoseconds or minutes."
    ),
    read_on=(
        "The dis module's documentation lists all opcodes; the superinstructions of your Python, such as "
        "LOAD_FAST_LOAD_FAST, were chosen from counts of pairs like these."
    ),
)
