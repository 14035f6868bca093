"""Runs Wald's sequential test on clipped log ratios, with the scale estimated by the MAD after each pair.

Trade: It also uses how large the differences are. It only estimates the noise, so its error rates are not guaranteed.
"""

from math import log
from statistics import median


def is_slower(next_pair, threshold):
    delta = log(1 + threshold)
    upper = log((1 - 0.05) / 0.005)  # stricter than 1 %, because the scale is only an estimate
    lower = log(0.04 / (1 - 0.005))

    d = []
    llr = 0.0
    while len(d) < 2000:
        a, b = next_pair()
        d.append(log(b / a))
        n = len(d)
        if n < 20:
            continue
        m = median(d)
        scale = 1.4826 * median(abs(x - m) for x in d) * (1 + 3 / n)
        scale = max(scale, 1e-9)
        # Clip symmetrically around the middle of the two hypotheses.
        limit = delta / 2 + 2.5 * scale
        centred = [max(-limit, min(limit, x - delta / 2)) for x in d]
        llr = delta * sum(centred) / scale**2
        if llr >= upper:
            return True
        if llr <= lower:
            return False
    return llr > 0
