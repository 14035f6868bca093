"""Yields only repeated pairs from a generator with a set of earlier pairs. Counts the yielded pairs, and adds one to
each count.
"""

from collections import Counter, deque


def repeats(trace):
    seen = set()
    window = deque(maxlen=2)
    for opcode in trace:
        window.append(opcode)
        if len(window) == 2:
            pair = tuple(window)
            if pair in seen:
                yield pair
            else:
                seen.add(pair)


def pairs(trace):
    counts = Counter(repeats(trace))
    order = sorted(counts, key=lambda pair: (-counts[pair], pair))
    return [[*pair, counts[pair] + 1] for pair in order]
