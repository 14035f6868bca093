"""Exercise of lesson 06: decide whether B is slower than A, with two guaranteed error rates.

Your code runs in simulated scenarios, in which the grader knows whether B is slower. Other programs on your own machine
change nothing.

Check your work with      fairclock check 06_ab_testing
"""

from collections.abc import Callable


def is_slower(next_pair: Callable[[], tuple[float, float]], threshold: float) -> bool:
    """Return True if B is slower than A by `threshold`, and False if B is as fast as A.

    next_pair   next_pair() measures A and B back to back, in random order, and returns (seconds of A, seconds of B)
    threshold   the slowdown that matters: 0.05 is 5 %

    In each scenario B takes either as long as A or `threshold` longer. You may measure up to 2000 pairs before you
    answer. Your answers must keep two error rates:

    - At most 1 % false alarms. A false alarm is True in a scenario without a slowdown.
    - At most 5 % misses. A miss is False in a scenario with a slowdown.

    There are disturbances. In some scenarios the noise of a pair is 1 % of its times, in others 30 %. In some scenarios
    a few pairs are outliers. In others the machine becomes slower all the time, but both times of a pair are affected
    equally.

    The grader judges your answers to 132 simulated scenarios together, so you can pass with a few wrong answers. It
    also computes how strong the evidence was for your answers. Lucky answers on weak evidence do not pass.

    Points: 4 of 10 if your answers keep both error rates. The baseline measures 600 pairs in each scenario. You get 6
    points for 1.25 times fewer pairs than the baseline, 8 for 2.5 times fewer, and all 10 for 7.5 times fewer. No fixed
    number of pairs is enough for all 10: stop early where the answer is clear.
    """
    raise NotImplementedError("Measure pairs, and return True or False.")
