"""Task (b) of lesson 11: compute the boxes of a flame graph from stacks, with few executed opcodes.

Submissions are compared with a slow baseline. It goes through all boxes for each frame of each stack, and through all
stacks for the left edge of each box. For 200 stacks of a training step (Python 3.11), a dict with paths as keys needs
2.7 to 2.9 times fewer opcodes. A tree of all stacks needs 9 times fewer, and merging equal stacks first 18 times fewer.
Computing the width of a box only once, when it closes, needs 44 to 47 times fewer. Stacks are chosen at random from
recorded stacks and renamed. A count is the same on every machine.

Without a counter, tier 1 needs hardly less CPU time than the baseline, and some submissions of tier 2 need as little as
tier 3. So a baseline that forges its count and also stops the counter can earn tier 1. A submission of tier 2 can then
earn tier 3 (`grader/trials/cpu_time.py`).
"""

from pathlib import Path

from grader.records import Cost
from grader.task import Task, Tier, ValueExam

from .stacks import draw_cases, draw_timed

FOLD = Task(
    lesson="11_torch_profiler",
    name="fold",
    summary="compute the boxes of a flame graph, with a 13th of the opcodes that the baseline executes",
    points=10.0,
    cost=Cost.TIME,
    tiers=(
        Tier(1.8, 0.6, cpu_gain=1.13, counting_gain=1.58),
        Tier(5.2, 0.8, cpu_gain=2.3, counting_gain=3.35),
        Tier(13.0, 1.0, cpu_gain=6.9, counting_gain=12.0),
    ),
    hints=(
        (
            "How many of the stacks are different? What do you compute twice for two stacks that begin with the same "
            "frames?"
        ),
        (
            "Add up the times of equal stacks first. A tuple of names can be a key of a dict, and a look-up is one "
            "opcode for any length. Then sort the stacks, so that stacks that begin with the same frames become "
            "neighbours."
        ),
        (
            "Go through the sorted stacks with `now`, the total time so far, and a list of open boxes. Count the "
            "frames that a stack shares with the previous stack. Close all boxes above these frames: the width is "
            "`now` minus the left edge. Open a box at `now` for each remaining frame, and append its row. Then add "
            "the stack's time to `now`."
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    folder=Path(__file__).parent,
    read="lesson 11, “A flame graph”",
    idea=(
        "A profile contains the same few stacks many times, so equal stacks are merged first. Then a sort makes stacks "
        "with the same beginning neighbours, and a running sum of the times gives all left edges. A box opens where "
        "its first stack begins, and closes where its last stack ends."
    ),
    references=(
        "Brendan Gregg's script stackcollapse writes one line of text per stack, and his script flamegraph.pl reads "
        "these lines. torch's export_stacks writes this format too."
    ),
)
