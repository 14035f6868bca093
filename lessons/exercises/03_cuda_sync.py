"""Exercise of lesson 03: time work that runs asynchronously.

Your code uses a simulated device. Like a GPU, the device works through a queue while your code continues. The simulated
clock advances only when your code or the device does something. So every answer is either right or wrong, and other
programs on your own machine change nothing. Your function can time a real GPU too: pass it a launch,
torch.cuda.synchronize and time.perf_counter.

Check your work with      fairclock check 03_cuda_sync
"""

import math
from collections.abc import Callable


def time_async(launch: Callable[[], object], synchronize: Callable[[], object], clock: Callable[[], float]) -> float:
    """Return the seconds that the device takes for one launch of the work.

    launch         launch() puts the work in the device's queue and returns at once
    synchronize    synchronize() returns when the device has finished all work launched so far
    clock          clock() reads the host's clock, in seconds; use only differences between two readings

    Return one float, in seconds. It must be at most 1 % away from the time per launch on the undisturbed device, where
    launches follow each other without a gap. Four things make the measurement difficult:

    - launch() returns before the work is done. It takes a few microseconds, however long the work takes. But it waits
      while 1000 launches are in the queue. Such a launch counts as a call of synchronize;
    - the first launch loads a library. This takes much longer than a launch, and does not count;
    - synchronize() takes 10 to 20 µs by itself, even when there is nothing to wait for;
    - other programs sometimes use the device for about 10 ms, at least 30 ms apart. They only add time.

    The grader runs your function in 26 simulated scenarios. Its answer may be wrong in 2 scenarios. In some scenarios
    other programs delay an early launch, such as one that you time to choose the number of launches in a block.

    Points: 4 of 10 for right answers. The baseline is a wasteful benchmark. You get 6 points for 1.4 times fewer calls
    of synchronize than the baseline. You get 8 points for 3.1 times fewer calls, and all 10 for 6.2 times fewer. One
    call of synchronize per block is enough: at the end of a block the device is idle, and the next block can begin. In
    each scenario you may call launch, synchronize and clock 200000 times together.
    """
    raise NotImplementedError("Launch, synchronize, and return the seconds one launch takes on the device.")
