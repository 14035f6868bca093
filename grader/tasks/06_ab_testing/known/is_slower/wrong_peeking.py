"""A test with 5 % false alarms was asked after every pair until it said yes. Each look is another chance to be fooled: of
forty looks, one or the other says yes by chance. Plan the looks, or use evidence that stays valid under peeking."""

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
