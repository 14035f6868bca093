"""Trusting a single pair with a large ratio gives these wrong answers. A change of the machine's speed within that pair
makes a ratio of three and more. Measure at least three pairs, and let the majority decide.
"""

import math


def crossover(f, g, measure, low, high):
    def f_faster(size):
        a, b = measure(f, size), measure(g, size)
        if a > 4.3 * b or b > 4.3 * a:
            return a < b
        for n in range(3):
            a = min(a, measure(f, size))
            b = min(b, measure(g, size))
            # two measurements of each are enough if they are far apart
            if n == 1 and (a > 1.5 * b or b > 1.5 * a):
                break
        return a < b

    measure(f, high)
    measure(g, high)
    begins = f_faster(low)
    ends = f_faster(high)
    if begins == ends:
        return None
    # The middle of the last interval, which is 9 % wide, is wrong by less than 5 %.
    while high > 1.09 * low and high - low > 1:
        middle = min(max(round(math.sqrt(low * high)), low + 1), high - 1)
        if f_faster(middle) == begins:
            low = middle
        else:
            high = middle
    return round(math.sqrt(low * high))
