"""Giving up a commit after its first UNDECIDED gives these wrong answers. A noisy comparison is also UNDECIDED at times,
and the first slow commit may be the one that you gave up. Compare again before you stop.
"""


def bisect(verdict, commits):
    fast, slow = -1, commits - 1
    skipped = set()
    while between := [n for n in range(fast + 1, slow) if n not in skipped]:
        tried = between[len(between) // 2]
        found = verdict(tried)
        if found == "UNDECIDED":
            skipped.add(tried)
        elif found == "SLOWER":
            slow = tried
        else:
            fast = tried
    return slow
