"""The task of lesson 03: measure asynchronous work in blocks of launches, and synchronize once per block.

Launching and synchronizing cost the host 13 to 26 µs per block. So a block must last at least 2.6 ms for an error of at
most 1 %. A shared device is free for 30 to 40 ms, and then used by other programs for 8 to 12 ms. Of two successive
blocks shorter than 10 ms, at least one is undisturbed. Blocks of 40 ms and more are all disturbed. One launch takes 20
µs to 0.8 ms, so no fixed number of launches fits every scenario.

A launch waits while the queue is full. Such a launch counts as a call of synchronize. Otherwise a submission could
measure without a single call of synchronize.

The baseline, with which submissions are compared, times 20 blocks of every size. This takes about 150 calls of
synchronize per scenario. The solution makes about 7 such calls, which was 23 to 26 times fewer in a dozen draws.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import SimulatedExam, Task, Tier

from .scenarios import draw_scenarios

TIME_ASYNC = Task(
    lesson="03_cuda_sync",
    name="time_async",
    summary="measure the seconds of launched work, within 1 %, with few calls of synchronize",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(Tier(1.4, 0.6), Tier(3.1, 0.8), Tier(6.2, 1.0)),
    hints=(
        (
            "What do you measure if you read the clock right after launch() has returned? When you read the clock at "
            "the start and at the end of a block, must the device be busy or idle?"
        ),
        (
            "A block is many launches followed by one synchronize(). Then the device is idle, and the next block can "
            "begin at once. Do not time the first launch, which loads a library. Launching and waiting take about 20 "
            "µs per block. How long must a block be, so that 20 µs are a small part of it?"
        ),
        (
            "First call launch() and synchronize(). Time a block in these steps: read the clock, launch n times, "
            "synchronize, read the clock. Begin with n = 1. Multiply n by 5 ms divided by the block's time, until a "
            "block lasts 5 ms. Time three blocks of n launches, and return the shortest time divided by n."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, forgiven=2),
    folder=Path(__file__).parent,
    read="lesson 03, “How often to wait”",
    idea=(
        "The solution launches once without timing, because the first launch loads a library. Then it times blocks. "
        "The device is idle at the start and at the end of each block. If a block is too short, the solution computes "
        "from its time how many launches take 6 ms. So the solution needs only a few blocks. The solution takes the "
        "shortest of three blocks, because other programs only add time."
    ),
    references=(
        "The CUDA C++ Programming Guide on asynchronous execution and events; the documentation of torch.cuda.Event. "
        "Lesson 04 shows how long a block should be."
    ),
)
