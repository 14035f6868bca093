"""Counting each occurrence on the stack gives these wrong answers. A function that calls itself is on the stack several
times, but a sample is only one moment of time. Count each sample at most once.
"""


def share(sample, name, margin):
    hits = total = 0
    while total < 1 / margin**2:
        stack = sample()
        if stack:
            total += 1
            hits += stack.count(name)
    return hits / total
