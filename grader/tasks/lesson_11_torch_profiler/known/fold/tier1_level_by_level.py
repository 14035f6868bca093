"""Finds the boxes of each depth with groupby over the sorted stacks, and sorts all boxes by left edge and depth at the
end."""

from itertools import accumulate, groupby
from operator import itemgetter


def fold(stacks):
    ordered = sorted(((frames, us) for frames, us in stacks if frames), key=itemgetter(0))
    edges = [0]
    edges.extend(accumulate(us for _, us in ordered))
    highest = max((len(frames) for frames, _ in ordered), default=0)

    rows = []
    for depth in range(highest):
        long_enough = [i for i, (frames, _) in enumerate(ordered) if len(frames) > depth]
        for prefix, group in groupby(long_enough, key=lambda i: ordered[i][0][: depth + 1]):
            places = list(group)
            left, right = edges[places[0]], edges[places[-1] + 1]
            rows.append([depth, prefix[depth], left, right - left])
    rows.sort(key=itemgetter(2, 0))
    return rows
