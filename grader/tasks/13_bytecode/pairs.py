"""Task (b): the same rows in a 150th of the baseline's executed opcodes, counted by Python's own events.

The baseline looks for each pair in a list of rows. Over 2500 opcodes on Python 3.11, a dict executes 14 to 18
times fewer opcodes, going over `zip` and asking it with `get` 29 to 39, a Counter of a generator expression 64 to 84, a
Counter of what `zip` gives 360 to 580, and without a loop over the rows either 770 to 930.

An index and a dict as the baseline would set honest work less apart: a Counter of a generator takes a quarter of that
one's opcodes but just as much CPU time, which is the second meter of what is counted (`grader/trials/cpu_time.py`).
"""

from pathlib import Path

from grader.records import Cost
from grader.task import CountedExam, Task, Tier
from grader.tasks.plain import right_rows

from .traces import draw_cases, draw_counted

PAIRS = Task(
    lesson="13_bytecode",
    name="pairs",
    summary="which opcodes follow each other, in a 150th of the baseline's executed opcodes",
    points=10.0,
    cost=Cost.OPCODES,
    tiers=(Tier(9.0, 0.6), Tier(50.0, 0.8), Tier(150.0, 1.0)),
    hints=(
        (
            "Does your code look through all it has for each pair? A dict finds a pair at once. Then count the "
            "opcodes of one round of your loop (dis.dis shows them): how many of them only fetch the two names?"
        ),
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
    exam=CountedExam(draw_cases, draw_counted, right_rows, timed_draws=20),
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
