"""Keeps tensors that are smaller than a quarter of the mean."""


def checkpoints(sizes):
    mean = sum(sizes) / len(sizes)
    kept = [i for i, size in enumerate(sizes) if i == 0 or size < mean / 4]
    largest = inner = 0
    for i, size in enumerate(sizes):
        inner = 0 if i in kept else inner + size
        largest = max(largest, inner)
    return [kept, sum(sizes[i] for i in kept) + largest]
