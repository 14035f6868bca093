"""Task (b) of lesson 17: choose which layers of a network keep their inputs. The cost is the peak of a step.

The baseline, with which submissions are compared, keeps the inputs of all layers. Segments of equal length, and
segments of about equal memory, gain about 4. Methods that prefer small tensors gain about 11. The solution must gain
only 1.3 times the top tier (`least_gain`), because the peak is computed, and so is the same on every machine.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import SimulatedExam, Task, Tier

from .networks import draw_scenarios

CHECKPOINTS = Task(
    lesson="17_peaks_and_leaks",
    name="checkpoints",
    summary="choose the checkpoints of a network, so that a training step needs little memory",
    points=10.0,
    cost=Cost.PEAK_MEMORY,
    tiers=(Tier(2.0, 0.7), Tier(7.0, 1.0)),
    hints=(
        "What is the peak if you keep the inputs of every tenth layer? What if you keep every fifth layer?",
        (
            "A checkpoint costs its own size, and divides a segment in two. Where in the network are checkpoints "
            "cheap? Write a function that computes the peak for a list of kept layers. Then you can compare several "
            "lists."
        ),
        (
            "For each size that occurs: keep layer 0 and all layers whose size is at most this size. Compute the peak "
            "of each of these lists, and of the lists range(0, n, step) for each step. Return the list with the lowest "
            "peak."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="networks"),
    folder=Path(__file__).parent,
    read="lesson 17, “Less memory for more time: checkpointing”",
    idea=(
        "The solution tries several limits for the memory of a segment. For each limit, it finds the checkpoints with "
        "the smallest sum: the cheapest way to reach layer e is a checkpoint at some layer a, plus the cheapest way to "
        "reach a. Small tensors are cheap checkpoints, so the segments begin there."
    ),
    references=(
        "T. Chen et al., Training Deep Nets with Sublinear Memory Cost (arxiv.org/abs/1604.06174), choose checkpoints "
        "for a given limit of a segment's memory, and search for the best limit."
    ),
    least_gain=1.3,
)
