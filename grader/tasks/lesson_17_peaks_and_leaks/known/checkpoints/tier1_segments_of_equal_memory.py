"""Begins a new segment when the segment would need more memory than a limit, and tries many limits."""


def split(sizes, limit):
    kept, inner, largest = [0], 0, 0
    for i in range(1, len(sizes)):
        if inner + sizes[i] > limit:
            kept.append(i)
            inner = 0
        else:
            inner += sizes[i]
        largest = max(largest, inner)
    return sum(sizes[i] for i in kept) + largest, kept


def checkpoints(sizes):
    whole = sum(sizes)
    peak, kept = min(split(sizes, whole * part // 50) for part in range(51))
    return [kept, peak]
