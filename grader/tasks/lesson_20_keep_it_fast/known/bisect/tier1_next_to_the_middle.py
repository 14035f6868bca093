"""Asks for the middle up to three times. If it stays undecided, goes on with the next commit that is nearest to it.

Trade: It is the usual rule, and the simplest. A long stretch of commits that do not run is asked for one by one.
"""


def bisect(verdict, commits):
    fast, slow = -1, commits - 1
    asked = [0] * commits
    while slow - fast > 1:
        fewest = min(asked[fast + 1 : slow]) // 3
        between = [n for n in range(fast + 1, slow) if asked[n] // 3 == fewest]
        tried = min(between, key=lambda n: abs(2 * n - fast - slow))
        asked[tried] += 1
        found = verdict(tried)
        if found == "SLOWER":
            slow = tried
        elif found == "SAME":
            fast = tried
    return slow
