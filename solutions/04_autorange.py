"""Exercise of lesson 04: choose the block size, then measure.

Your code runs on a simulated machine. Its clock moves only when something is done on it, so every answer is
either right or wrong, and busy neighbours on your own machine change nothing.

Check your work with      python -m grader check 04_autorange
"""

import math
import statistics
from collections.abc import Callable

# BEGIN SOLUTION
# A block must last at least 100 steps of the clock. A neighbour can make it look up to twice as long as it
# is, so aim at twice as much; aim much higher, and blocks no longer fit between the neighbour's visits.
STEPS_AIMED_AT = 200
FEWEST_SAMPLES = 10
# END SOLUTION


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
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Choose a block size, take samples, return all four results.")
    run(1)
    aim_s = STEPS_AIMED_AT * smallest_step(clock)
    block_size = find_block_size(run, clock, aim_s)
    samples: list[float] = []
    total_s = 0.0
    while total_s < min_run_time or len(samples) < FEWEST_SAMPLES:
        block_s = time_block(run, clock, block_size)
        samples.append(block_s / block_size)
        total_s += block_s
    first_quartile, median, third_quartile = statistics.quantiles(samples, n=4)
    return block_size, samples, median, third_quartile - first_quartile
    # END SOLUTION


# BEGIN SOLUTION
def smallest_step(clock: Callable[[], float]) -> float:
    """Return the smallest change that two readings of the clock show, in seconds."""
    steps: list[float] = []
    before_s = clock()
    while len(steps) < 5:
        now_s = clock()
        if now_s > before_s:
            steps.append(now_s - before_s)
        before_s = now_s
    # The middle one: a neighbour makes some readings slower, and two ticks can fall into one step.
    return statistics.median(steps)


def find_block_size(run: Callable[[int], None], clock: Callable[[], float], aim_s: float) -> int:
    """Return how many runs take `aim_s` seconds. Doubling finds it in less time than two such blocks take."""
    runs = 1
    while (seconds := time_block(run, clock, runs)) < aim_s:
        runs *= 2
    return math.ceil(aim_s / (seconds / runs))


def time_block(run: Callable[[int], None], clock: Callable[[], float], runs: int) -> float:
    """Return the seconds that one block of `runs` runs takes."""
    start_s = clock()
    run(runs)
    return clock() - start_s


# END SOLUTION
