"""Begins with all layers kept, and removes the largest checkpoints as long as the peak does not grow.

Trade: It needs no limit. A removed checkpoint never comes back, so the result may not be the best.
"""

from tier2_small_sizes_each_limit import peak_of


def checkpoints(sizes):
    kept = list(range(len(sizes)))
    best = [kept, peak_of(sizes, kept)]
    for layer in sorted(range(1, len(sizes)), key=lambda i: -sizes[i]):
        kept = [i for i in kept if i != layer]
        peak = peak_of(sizes, kept)
        if peak < best[1]:
            best = [kept, peak]
    return best
