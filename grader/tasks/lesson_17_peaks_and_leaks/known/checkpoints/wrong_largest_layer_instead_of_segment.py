"""Adding only the largest tensor of a segment gives these wrong answers. All tensors of the segment exist at the same
time, when its first layer is next in the backward pass.
"""


def checkpoints(sizes):
    mean = sum(sizes) / len(sizes)
    kept = [i for i, size in enumerate(sizes) if i == 0 or size < mean / 4]
    others = [size for i, size in enumerate(sizes) if i not in kept]
    return [kept, sum(sizes[i] for i in kept) + max(others, default=0)]
