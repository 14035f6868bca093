"""Leaving out the segment after the last checkpoint gives these wrong answers. It ends with the last layer."""


def checkpoints(sizes):
    mean = sum(sizes) / len(sizes)
    kept = [i for i, size in enumerate(sizes) if i == 0 or size < mean / 4]
    segments = [sum(sizes[a + 1 : b]) for a, b in zip(kept, kept[1:])]
    return [kept, sum(sizes[i] for i in kept) + max(segments, default=0)]
