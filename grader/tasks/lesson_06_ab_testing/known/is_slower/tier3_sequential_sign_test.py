"""Runs a sequential sign test around half the slowdown. The unknown probability is averaged over a grid.

Trade: You choose no stake, unlike in a bet. Each pair needs more computation.
"""

import math

RATES = [0.03 + 0.02 * i for i in range(23)]  # probability of the wrong sign: 0.03 to 0.47


def log_mean_exp(values):
    top = max(values)
    return top + math.log(sum(math.exp(v - top) for v in values) / len(values))


def is_slower(next_pair, threshold):
    halfway = math.sqrt(1 + threshold)
    above = below = 0
    odds = 0.0
    for n in range(1, 2001):
        a, b = next_pair()
        if b > a * halfway:
            above += 1
        else:
            below += 1
        slower = log_mean_exp([above * math.log(1 - q) + below * math.log(q) for q in RATES])
        same = log_mean_exp([below * math.log(1 - q) + above * math.log(q) for q in RATES])
        odds = slower - same
        if n >= 8 and odds > math.log(200):
            return True
        if n >= 8 and odds < -math.log(40):
            return False
    return odds > 0
