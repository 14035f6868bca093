"""Task (b) of lesson 08: compute the same result 3.3 times as fast as the baseline.

The baseline, with which submissions are compared, searches each name in a list of names, one by one, and splits each
line twice. With 600 functions and 1500 lines, a single split is 1.0 to 1.1 times as fast, and `list.index` instead of
the loop 1.4 to 1.6 times. A regular expression, a Counter or a dict are 6.7 to 11 times as fast (Python 3.11 and 3.13).
So full points separate a search in a list from a lookup by hash.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import Task, Tier, ValueExam

from .listings import draw_cases, draw_timed

BY_FUNCTION = Task(
    lesson="08_callgrind",
    name="by_function",
    summary="sum instructions by function, 3.3 times as fast as the baseline",
    points=10.0,
    cost=Cost.TIME,
    tiers=(Tier(3.3, 1.0),),
    hints=(
        "Which work is repeated for every line, although an earlier line has already done it?",
        (
            "To find a name in a list, Python searches from the beginning. Which of Python's own types finds a name "
            "without a search?"
        ),
        (
            "Keep the totals in a dict whose keys are the names. Split each line once, at its first space: count, "
            'name = line.split(" ", 1). Leave out zeros, and sort once at the end.'
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    folder=Path(__file__).parent,
    read="lesson 08, “Which functions execute the instructions?”",
    idea=(
        "A dict finds a name by its hash instead of comparing it with one name after the other. Each line is split "
        "only once. The counts of a name are collected as text and added up at the end. The call sum(map(int, …)) runs "
        "in C. A loop would take several Python steps for each number."
    ),
    references=(
        "harness.callgrind.count_script counts the instructions of any script. dis.dis shows its bytecode, and lesson "
        "13 shows the cost of each bytecode instruction."
    ),
)
