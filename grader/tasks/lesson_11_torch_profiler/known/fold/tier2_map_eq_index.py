"""Sorts the stacks, and finds the first difference from the previous stack with map, eq and index. Sets a width only when
a box closes.

Trade: The comparison of two stacks runs in C. It sorts all stacks, although most of them are equal.
"""

from operator import eq


def fold(stacks):
    rows = []
    path = []
    before = []
    left = 0
    for frames, us in sorted(stacks):
        if frames:
            if frames != before:
                shared = [*map(eq, before, frames), False].index(False)
                for row in path[shared:]:
                    row[3] += left
                path[shared:] = [[depth, name, left, -left] for depth, name in enumerate(frames[shared:], shared)]
                rows += path[shared:]
                before = frames
            left += us
    for row in path:
        row[3] += left
    return rows
