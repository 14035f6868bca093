"""For each limit of a segment, begins the next segment at the smallest tensor that is still within the limit."""


def plan(sizes, limit):
    kept, at, n = [0], 0, len(sizes)
    while True:
        inner, end = 0, at + 1
        while end < n and inner + sizes[end] <= limit:
            inner += sizes[end]
            end += 1
        if end == n:
            return kept
        at = min(range(at + 1, end + 1), key=lambda i: (sizes[i], -i))
        kept.append(at)


def checkpoints(sizes):
    whole = sum(sizes)
    best = None
    for part in range(101):
        kept = plan(sizes, whole * part // 100)
        ends = kept[1:] + [len(sizes)]
        peak = sum(sizes[i] for i in kept) + max(sum(sizes[a + 1 : b]) for a, b in zip(kept, ends))
        if best is None or peak < best[1]:
            best = [kept, peak]
    return best
