"""Keeps all tensors up to some size, and tries each size that occurs.

Trade: A single number describes the choice. Only sizes count, so a long row of large tensors has no checkpoint.
"""


def peak_of(sizes, kept):
    ends = kept[1:] + [len(sizes)]
    return sum(sizes[i] for i in kept) + max(sum(sizes[a + 1 : b]) for a, b in zip(kept, ends))


def checkpoints(sizes):
    best = None
    for limit in set(sizes):
        kept = [0] + [i for i in range(1, len(sizes)) if sizes[i] <= limit]
        peak = peak_of(sizes, kept)
        if best is None or peak < best[1]:
            best = [kept, peak]
    return best
