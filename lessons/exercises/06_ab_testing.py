"""Exercise of lesson 06: is B slower than A? A decision that keeps two promises.

Your code runs in simulated worlds, where it is known whether B is slower. Busy neighbours on your own machine change
nothing.

Check your work with      python -m grader check 06_ab_testing
"""

from collections.abc import Callable


def is_slower(next_pair: Callable[[], tuple[float, float]], threshold: float) -> bool:
    """Return whether B is slower than A: by `threshold`, or not at all.

    next_pair   next_pair() measures A and B back to back, in random order, and returns (seconds of A, seconds of B)
    threshold   the slowdown that matters: 0.05 is 5 %

    In each world B takes either as long as A or `threshold` longer. Ask for as many pairs as you need, 2000 at most,
    and answer. You promise two things:

    - No more than 1 % false alarms: True in a world without a slowdown.
    - No more than 5 % misses: False in a world with one.

    What disturbs: the times of a pair scatter, by how much you are not told; in some worlds a few pairs are wildly off;
    and in some the machine gets slower all the time, but for both sides of a pair alike.

    Your answers are judged over 132 worlds together, so one wrong answer is no failure; many are. The odds on which
    you raise an alarm are looked at as well: luck does not pass for evidence.

    Points: 4 of 10 for promises kept. The fewer pairs, the more points: 6 for 1.25 times fewer than 300 in each world,
    8 for 2.7 times fewer, all 10 for 5 times fewer.
    """
    raise NotImplementedError("Ask for pairs, and return True or False.")
