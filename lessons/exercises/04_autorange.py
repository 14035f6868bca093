"""Exercise of lesson 04: choose the block size, then measure.

Your code runs on a simulated machine. Its clock advances only when your code does something on that machine. So every
answer is either right or wrong, and other programs on your own machine change nothing.

Check your work with      fairclock check 04_autorange
"""

import math
import statistics
from collections.abc import Callable


def blocked_autorange(
    run: Callable[[int], None], clock: Callable[[], float], min_run_time: float
) -> tuple[int, list[float], float, float]:
    """Measure a statement in blocks, and return (block_size, samples, median, iqr).

    run             run(n) runs the statement n times; n is a whole number, at least 1
    clock           clock() reads the clock, in seconds; use only differences between two readings
    min_run_time    the least seconds that the measured blocks must take together

    A block is one run(n) between two readings of the clock. Return four things:

    block_size      the n of your blocks, the same for all samples
    samples         a list with the seconds of ONE run for each block that you measured, with none left out: the
                    block's time divided by n
    median          the median of the samples, in seconds
    iqr             their interquartile range (third quartile minus first), in seconds

    Your blocks and results must meet three conditions:

    - A block lasts at least 100 steps of the clock, so that the clock's error is at most 1 % of it. The step is the
      smallest change between two readings. Some clocks have coarse ticks, and others take long to read.
    - All measured blocks together last at least min_run_time. There are at least 10 of them, even if ten runs of a
      slow statement take longer than min_run_time.
    - The median is at most 2 % away from the time of an undisturbed run. The very first run of the statement is slow.
      On one machine another program runs in bursts. During a burst, everything takes up to twice as long. The longer
      your blocks are, the fewer of them are undisturbed.

    Points: 4 of 10 for a right answer. The baseline measures everything eight times. You get 6 points for 1.5 times
    less simulated time than the baseline, 8 for 2.2 times less, and all 10 for 3 times less. The search for the block
    size and the readings of the clock count too. In each simulated scenario you may call run and clock 200000 times
    together.
    """
    raise NotImplementedError("Choose a block size, take samples, return all four results.")
