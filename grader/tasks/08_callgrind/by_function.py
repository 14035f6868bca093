"""Task (b): the same result in a quarter of the baseline's instructions, counted by Callgrind.

The baseline looks for each name in a list of the names so far, one by one, and splits each line twice. With 200
functions and 1000 lines (Python 3.11): splitting once leaves 91 % of its instructions, `list.index` in place of the
loop 78 %, a Counter 9 %, a dict of lists that are added up at the end 4 %. Each of these is the same another time, on a
busy machine or on an idle one. The one tier, 25 %, lies between searching a list and finding a name by its hash.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import CountedExam, Task, Tier
from grader.tasks.plain import right_rows

from .listings import draw_cases, draw_counted

BY_FUNCTION = Task(
    lesson="08_callgrind",
    name="by_function",
    summary="instructions by function, in a quarter of the baseline's instructions",
    points=10.0,
    cost=Cost.INSTRUCTIONS,
    tiers=(Tier(4.0, 1.0),),
    hints=(
        "What is done again for every line, though it was known from an earlier one?",
        (
            "A list has to be searched from its beginning to say where a name is. Which of Python's own types finds a "
            "name without a search?"
        ),
        (
            "Keep the totals in a dict, by name. Split a line once, at its first space, into both of its parts: "
            'count, name = line.split(" ", 1). Leave the zeros out and sort at the end, once.'
        ),
    ),
    exam=CountedExam(draw_cases, draw_counted, right_rows),
    folder=Path(__file__).parent,
    read="lesson 08, step 3",
    idea=(
        "a dict, which finds a name by its hash instead of comparing it with one name after the other; and each line "
        "is split once. Then the counts of a name are collected as they are and added up at the end: sum(map(int, …)) "
        "stays inside C, where a loop takes several of Python's steps for each number."
    ),
    read_on=(
        "harness.callgrind.count_script counts any script of yours; dis.dis shows the steps that it is made of, and "
        "lesson 13 what each of them costs."
    ),
)
