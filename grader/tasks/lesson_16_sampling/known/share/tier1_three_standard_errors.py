"""Takes as many samples as three standard errors of the share one half need."""

from baseline import busy


def share(sample, name, margin):
    n = round((3 * 0.5 / margin) ** 2)
    return sum(name in busy(sample) for _ in range(n)) / n
