"""Treating UNDECIDED like SAME gives these wrong answers. The search then looks only at newer commits, although the first
slow commit may be older. Compare again, or compare another commit.
"""


def bisect(verdict, commits):
    fast, slow = -1, commits - 1
    while slow - fast > 1:
        middle = (fast + slow) // 2
        if verdict(middle) == "SLOWER":
            slow = middle
        else:
            fast = middle
    return slow
