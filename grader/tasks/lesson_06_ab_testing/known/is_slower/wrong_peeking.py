"""A test with 5 % false alarms, repeated after every pair until it returns True, gives these wrong answers. Each look
is another chance of a false alarm, so the share of false alarms becomes much larger than 5 %. Plan the looks, or use
evidence that stays valid however often you look.
"""

import math
import statistics


def is_slower(next_pair, threshold):
    ratios = []
    while len(ratios) < 100:
        a, b = next_pair()
        ratios.append(math.log(b / a))
        if len(ratios) >= 5:
            error = statistics.stdev(ratios) / math.sqrt(len(ratios))
            if statistics.fmean(ratios) / error > 1.96:
                return True
    return False
