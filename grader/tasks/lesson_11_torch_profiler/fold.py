"""Task (b) of lesson 11: compute the boxes of a flame graph from stacks.

Submissions are compared with a slow baseline. It goes through all boxes for each frame of each stack, and through all
stacks for the left edge of each box. For 2000 stacks, of which 60 differ, a dict with paths as keys is 1.7 to 1.9 times
as fast. Other ways without merging equal stacks are 4 to 13 times as fast. If equal stacks are merged first, the ratio
is 17 to 23 (Python 3.11 and 3.13). The stacks are random paths in a random tree.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import Task, Tier, ValueExam

from .stacks import draw_cases, draw_timed

FOLD = Task(
    lesson="11_torch_profiler",
    name="fold",
    summary="compute the boxes of a flame graph, 13.3 times as fast as the baseline",
    points=10.0,
    cost=Cost.TIME,
    tiers=(
        Tier(1.33, 0.6),
        Tier(2.6, 0.8),
        Tier(13.3, 1.0),
    ),
    hints=(
        (
            "How many of the stacks are different? What do you compute twice for two stacks that begin with the same "
            "frames?"
        ),
        (
            "Add up the times of equal stacks first. A tuple of names can be a key of a dict. Then sort the stacks, "
            "so that stacks that begin with the same frames become neighbours."
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
    least_gain=1.3,
)
