"""Divides the network into about √n segments of equal length."""


def checkpoints(sizes):
    step = max(1, round(len(sizes) ** 0.5))
    kept = list(range(0, len(sizes), step))
    segments = [sum(sizes[a + 1 : a + step]) for a in kept]
    return [kept, sum(sizes[i] for i in kept) + max(segments)]
