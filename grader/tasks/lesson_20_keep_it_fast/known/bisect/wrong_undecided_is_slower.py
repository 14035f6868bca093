"""Treating UNDECIDED like SLOWER gives these wrong answers. The search then looks only at older commits, although the
first slow commit may be newer. Compare again, or compare another commit.
"""


def bisect(verdict, commits):
    fast, slow = -1, commits - 1
    while slow - fast > 1:
        middle = (fast + slow) // 2
        if verdict(middle) == "SAME":
            fast = middle
        else:
            slow = middle
    return slow
