"""The mean of the two middle numbers as the median gives this wrong answer. torch.quantile computes it like this. For
an even count, torch's median is the lower of the two middle numbers.
"""

from baseline import scaled, smoothed, spread, without_trend


def scores(x):
    y = smoothed(without_trend(x))
    if not y.numel():
        return y
    middle = y.quantile(0.5, 1, keepdim=True)
    limits = 3 * (y - middle).abs().quantile(0.5, 1, keepdim=True)
    return scaled(y.clamp(-limits, limits))
