"""The task: choose how many runs make one sample, then take samples for long enough, and waste little time.

No fixed part of `min_run_time` is the right block in every world: beside the coarse clock a block must be at
least a 24th of it, and between a neighbour's visits hardly more than a 40th. So one has to look at the clock.

Gain: the baseline measures eight times and keeps the last, so it spends about eight times `min_run_time`.
Nobody can spend less than `min_run_time`: a solution gains at most eightfold, and full marks ask for three.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import MeteredExam, Task, Tier

from .worlds import draw_worlds

BLOCKED_AUTORANGE = Task(
    lesson="04_autorange",
    name="blocked_autorange",
    summary="block size, samples, median and IQR on a noisy clock, in little time",
    points=10.0,
    cost=Cost.SIMULATED_TIME,
    tiers=(Tier(1.5, 0.6), Tier(2.2, 0.8), Tier(3.0, 1.0)),
    hints=(
        (
            "Two questions, one after the other: how many runs make a block that this clock can measure? And "
            "how many such blocks make up min_run_time? Answer each once, and throw nothing away."
        ),
        (
            "Read the clock until it changes, a few times: that is its step. A block has to last 100 of "
            "them. Double the runs until a block does, but remember that the first run is cold, and that a "
            "neighbour can make a block look up to twice as long as it is."
        ),
        (
            "run(1) once, unmeasured. Then double n until run(n) lasts 200 steps, and take seconds / n as a "
            "first guess of one run. The block is 200 steps divided by that guess, rounded up: still 100 "
            "steps if the guess was twice too long. Now collect block times divided by the block size, once, "
            "until there are ten and they make up min_run_time."
        ),
    ),
    exam=MeteredExam(draw_worlds),
    folder=Path(__file__).parent,
    read="lesson 04, step 3",
    idea=(
        "read the clock until it has changed a few times, to learn its step; run the statement once, unmeasured; "
        "double the runs until a block lasts 200 steps, and from that work out one block size. It may be twice too "
        "small beside a neighbour, and still holds the 100 steps asked for. Then measure once, until there is time "
        "and number enough. All that is spent beyond the samples is the search, and doubling makes it no longer than "
        "about two blocks."
    ),
    read_on="_estimate_block_size and blocked_autorange in torch/utils/benchmark/utils/timer.py, which multiply by "
    "ten instead; lesson 06 on when to stop.",
)
