"""The task of lesson 04: choose a block size, and take samples for `min_run_time` in little simulated time.

No fixed part of `min_run_time` is the right block length in every scenario. With the coarse clock, a block must last at
least 1/24 of `min_run_time`. With another program that runs in bursts, a block can hardly last more than 1/40 of
`min_run_time`. So a submission must measure the clock's step.

The baseline measures eight times and keeps the last measurement, so it takes about eight times `min_run_time`. Every
right answer takes at least `min_run_time`, so it is at most 8 times as fast. Full points need 3 times.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import SimulatedExam, Task, Tier

from .scenarios import draw_scenarios

BLOCKED_AUTORANGE = Task(
    lesson="04_autorange",
    name="blocked_autorange",
    summary="find the block size, samples, median and IQR with a noisy clock, in little time",
    points=10.0,
    cost=Cost.SIMULATED_TIME,
    tiers=(Tier(1.5, 0.6), Tier(2.2, 0.8), Tier(3.0, 1.0)),
    hints=(
        (
            "First find how many runs make a block that this clock can measure. Then measure blocks of this size until "
            "they fill min_run_time. Do each of these two steps only once, and keep all measured blocks."
        ),
        (
            "Read the clock until it changes, a few times, to find its step. A block must last at least 100 steps of "
            "the clock. Double the runs until a block lasts that long. The first run is slow, and another program can "
            "make a block up to twice as long."
        ),
        (
            "Call run(1) once without timing it. Double n until run(n) lasts 200 steps of the clock. Estimate the time "
            "of one run as seconds / n. The block size is 200 steps divided by that estimate, rounded up. A block of "
            "this size lasts at least 100 steps, even if the estimate was twice as long as the true time. Then collect "
            "block times divided by the block size, until there are at least ten and the blocks together last "
            "min_run_time."
        ),
    ),
    exam=SimulatedExam(draw_scenarios),
    folder=Path(__file__).parent,
    read="lesson 04, “Many short blocks”",
    idea=(
        "The solution runs the statement once without timing. To find the clock's step, it reads the clock until it "
        "has changed a few times. The solution doubles the runs until a block lasts 200 steps, and computes one block "
        "size from that block. If another program disturbs this one block, the block size may be twice too small. "
        "Blocks of this size still last the required 100 steps. Then the solution measures blocks until their number "
        "and their total time are large enough. Only the search for the block size takes extra time. With doubling, "
        "this search takes no longer than about two blocks."
    ),
    references="torch's own code multiplies the number of runs by ten instead of two: _estimate_block_size and "
    "blocked_autorange in torch/utils/benchmark/utils/timer.py. Lesson 06 shows when to stop measuring.",
)
