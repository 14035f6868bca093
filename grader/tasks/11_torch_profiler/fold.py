"""Task (b): the boxes of a flame graph from stacks, by executed opcodes.

The baseline goes through all boxes for each frame of each stack, and through all stacks for each box's left edge. Of
200 stacks of a step of training (Python 3.11): paths as keys of a dict are 2.7 to 2.9 times fewer, a tree of all stacks
9, equal stacks made one first 18, and boxes that are closed once instead of widened by each stack 44 to 47. Stacks are
drawn from recorded ones, with other names; a count is the same each time, on any machine.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import CountedExam, Task, Tier
from grader.tasks.plain import right_rows

from .stacks import draw_cases, draw_counted

FOLD = Task(
    lesson="11_torch_profiler",
    name="fold",
    summary="the boxes of a flame graph from stacks, in a thirteenth of the baseline's executed opcodes",
    points=10.0,
    cost=Cost.OPCODES,
    tiers=(Tier(1.8, 0.6), Tier(5.2, 0.8), Tier(13.0, 1.0)),
    hints=(
        "How many of the stacks are different? And what of two stacks that begin alike do you work out twice?",
        (
            "Add up the times of equal stacks first: a tuple of names is a key, and a look-up is one opcode however "
            "long it is. Then sort the stacks. Those that begin with the same frames now lie side by side."
        ),
        (
            "Go through the sorted stacks with `now`, the time so far, and the boxes that are open. Count the frames "
            "that a stack shares with the one before: the boxes above close, each as wide as now less its left edge; "
            "boxes open at `now` for its other frames. Then now += its time. A row is appended when its box opens."
        ),
    ),
    exam=CountedExam(draw_cases, draw_counted, right_rows, timed_draws=30),
    folder=Path(__file__).parent,
    read="lesson 11, step 4",
    idea=(
        "a profile meets the same few stacks again and again, so equal ones are made one before any frame is looked "
        "at. A sort then puts side by side what begins alike, and the left edges come out of one running sum: a box "
        "opens where its first stack begins and closes where its last one ends."
    ),
    read_on=(
        "Brendan Gregg's stackcollapse and flamegraph.pl: two scripts with one line of text a stack in between, which "
        "is what export_stacks writes."
    ),
)
