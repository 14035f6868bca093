"""Returning only the sum of the kept sizes as the peak gives these wrong answers. In the backward pass, the other
tensors of one segment exist beside the kept tensors.
"""


def checkpoints(sizes):
    mean = sum(sizes) / len(sizes)
    kept = [i for i, size in enumerate(sizes) if i == 0 or size < mean / 4]
    return [kept, sum(sizes[i] for i in kept)]
