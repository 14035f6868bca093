"""One spread for all rows together gives this wrong answer. If another row has much larger numbers, a row of small
numbers is then never clipped. Each row has its own spread.
"""

from baseline import scaled, smoothed, spread, without_trend


def scores(x):
    y = smoothed(without_trend(x))
    if not y.numel():
        return y
    limit = 3 * (y - y.median()).abs().median()
    return scaled(y.clamp(-limit, limit))
