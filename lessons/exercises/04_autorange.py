"""Exercise of lesson 04: choose the block size, then measure.

Your code runs on a simulated machine. Its clock moves only when something is done on it, so every answer is
either right or wrong, and busy neighbours on your own machine change nothing.

Check your work with      python -m grader check 04_autorange
"""

import math
import statistics
from collections.abc import Callable


def blocked_autorange(
    run: Callable[[int], None], clock: Callable[[], float], min_run_time: float
) -> tuple[int, list[float], float, float]:
    """Measure a statement in blocks, and return (block_size, samples, median, iqr).

    run             run(n) runs the statement n times; n is a whole number, at least 1
    clock           clock() reads the clock, in seconds; only the difference of two readings means anything
    min_run_time    seconds that the measured blocks are to take together

    A block is one run(n) between two readings of the clock. Return four things:

    block_size      the n of your blocks, the same for all samples
    samples         a list: for each block the seconds ONE run took, that is the block's time divided by n
    median          the median of the samples, seconds
    iqr             their interquartile range (third quartile minus first), seconds

    What is asked of them:

    - A block lasts at least 100 steps of the clock, so that the clock is at most 1 % of it. The step is the
      smallest change you can see between two readings: some clocks move in coarse ticks, others take long to
      read.
    - All measured blocks together last at least min_run_time, and there are at least 10 of them, even if ten
      runs of a slow statement take longer than min_run_time.
    - The median is at most 2 % away from the time of an undisturbed run. What disturbs: the very first run of
      the statement is slow, and on one machine a neighbour comes and goes. While it is there, everything
      takes up to twice as long; the longer your blocks, the fewer of them it leaves alone.

    Points: 4 of 10 for a right answer. The less simulated time passes from call to return, the more: 6 for
    1.5 times less than a benchmark that measures everything eight times over, 8 for 2.2 times, all 10 for 3
    times. Looking for the block size and reading the clock take simulated time, too. In each world
    you may call run and clock 200000 times together.
    """
    raise NotImplementedError("Choose a block size, take samples, return all four results.")
