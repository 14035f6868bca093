"""Works in two stages. First, 30 pairs give an estimate of the noise, and so of the necessary number of pairs. Then the
median of all pairs decides.

Trade: After the first stage, the number of pairs is known. It cannot stop earlier if the answer is already clear.
"""

import math
from statistics import NormalDist, median


def is_slower(next_pair, threshold):
    delta = math.log1p(threshold)
    z_alarm = NormalDist().inv_cdf(0.99)
    z_miss = NormalDist().inv_cdf(0.95)

    logs = []

    def more(count):
        for _ in range(count):
            a, b = next_pair()
            logs.append(math.log(b / a))

    more(30)
    m = median(logs)
    sigma = 1.4826 * median([abs(x - m) for x in logs])
    sigma *= 1.25  # a reserve, because thirty pairs give only a rough estimate

    # The standard error of a median is 1.2533 sigma / sqrt(n). Both error rates must fit into delta.
    needed = math.ceil(((z_alarm + z_miss) * 1.2533 * sigma / delta) ** 2)
    needed = max(30, min(2000, needed))
    more(needed - len(logs))
    return median(logs) > delta * z_alarm / (z_alarm + z_miss)
