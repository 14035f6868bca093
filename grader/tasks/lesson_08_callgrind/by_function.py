"""Task (b) of lesson 08: compute the same result with a quarter of the baseline's instructions, counted by Callgrind.

The baseline, with which submissions are compared, searches each name in a list of names, one by one, and splits each
line twice. With 200 functions and 1000 lines (Python 3.11), a single split needs 91 % of the baseline's instructions.
`list.index` instead of the loop needs 78 %, a Counter 9 %, and a dict of lists that are added up at the end 4 %. The
counts repeat exactly, also on a busy machine. Full points need 25 %, which separates a search in a list from a lookup
by hash.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import Task, Tier, ValueExam

from .listings import draw_cases, draw_timed

BY_FUNCTION = Task(
    lesson="08_callgrind",
    name="by_function",
    summary="sum instructions by function, in a quarter of the baseline's instructions",
    points=10.0,
    cost=Cost.TIME,
    tiers=(Tier(4.0, 1.0, cpu_gain=2.12),),
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
