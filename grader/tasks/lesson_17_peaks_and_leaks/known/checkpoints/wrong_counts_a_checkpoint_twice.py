"""Counting the first tensor of a segment twice gives these wrong answers. The first tensor of a segment is a kept
tensor, so the sum of the kept tensors already includes it.
"""


def checkpoints(sizes):
    mean = sum(sizes) / len(sizes)
    kept = [i for i, size in enumerate(sizes) if i == 0 or size < mean / 4]
    ends = kept[1:] + [len(sizes)]
    return [kept, sum(sizes[i] for i in kept) + max(sum(sizes[a:b]) for a, b in zip(kept, ends))]
