"""Tests a winsorised mean after 20, 40, 80 … pairs, and divides the allowed errors among these tests."""

import math
from statistics import NormalDist

LOOKS = (20, 40, 80, 160, 320, 640, 1280, 2000)


def quantile(p, df):
    """Return a quantile of Student's t, computed from the normal quantile (Cornish-Fisher)."""
    z = NormalDist().inv_cdf(p)
    return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)


def winsorised(values):
    values = sorted(values)
    n = len(values)
    k = max(1, n // 20)
    values = [values[k]] * k + values[k : n - k] + [values[n - k - 1]] * k
    mean = sum(values) / n
    sd = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    return mean, sd / (1 - 2 * k / n) / math.sqrt(n)


def is_slower(next_pair, threshold):
    delta = math.log1p(threshold)
    data = []
    mean = 0.0
    for look in LOOKS:
        while len(data) < look:
            a, b = next_pair()
            data.append(math.log(b / a))
        mean, error = winsorised(data)
        alarm = quantile(1 - 0.01 / len(LOOKS), look - 1)
        clear = quantile(1 - 0.05 / len(LOOKS), look - 1)
        shows_slowdown = mean > alarm * error
        rules_it_out = mean < delta - clear * error
        if shows_slowdown and rules_it_out:
            return mean > delta / 2
        if shows_slowdown:
            return True
        if rules_it_out:
            return False
    return mean > 0.586 * delta
