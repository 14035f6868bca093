"""How long does work take that runs behind the caller's back? Wait for it, once a block.

To launch and to synchronize costs the host 13 to 26 µs a block, so a block within 1 % lasts 2.6 ms or more. A device
that others use is free for 30 to 40 ms, then taken for 8 to 12: of blocks below 10 ms at least one of two in a row is
left alone, while blocks of 40 ms and more are all hit. One launch takes 20 µs to 0.8 ms, so no number of launches
fits every world.

Gain: the baseline times twenty blocks of every size it tries, about 150 calls of synchronize a world; the solution
needs some 7, which is 23× to 26× less in a dozen draws.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import MeteredExam, Task, Tier

from .worlds import draw_worlds

TIME_ASYNC = Task(
    lesson="03_cuda_sync",
    name="time_async",
    summary="the seconds that launched work takes, within 1 %, with few calls of synchronize",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(Tier(1.4, 0.6), Tier(3.1, 0.8), Tier(6.2, 1.0)),
    hints=(
        (
            "What does the clock say if you read it right after launch() has returned? What must have happened before "
            "each of the two readings of a block?"
        ),
        (
            "Launch many times, then synchronize once: a block. What it ends with, an idle device, is what the next "
            "one begins with. The first launch loads a library and counts for nothing. How long must a block be, that "
            "20 µs more or less do not matter?"
        ),
        (
            "launch(); synchronize(). Then read the clock, launch n times, synchronize, read the clock. Begin with "
            "n = 1 and multiply n by what is missing to 5 ms, until a block lasts that long. Take three such blocks "
            "and return the shortest, divided by n."
        ),
    ),
    exam=MeteredExam(draw_worlds, forgiven=2),
    folder=Path(__file__).parent,
    read="lesson 03, step 2",
    idea=(
        "launch once, unmeasured, for it loads a library; then time blocks, with the device idle at both ends. A block "
        "that proves too short tells how many launches 6 ms take, so the right length is found in a few blocks. Of "
        "three the shortest counts, because others only ever add time."
    ),
    read_on=(
        "the CUDA C++ Programming Guide on asynchronous execution and events; torch.cuda.Event; lesson 04: how long a "
        "block should be."
    ),
)
