"""Compares commits at distances 0, 1, 2, 4, 8 … from the middle, on both sides in turns, until one is decided.

Trade: The decided commit is near the middle. Scattered commits that do not run can hide all of these distances, so it
must also try the commits one after the other.
"""


def bisect(verdict, commits):
    fast, slow = -1, commits - 1
    while slow - fast > 1:
        for tried in [*around(fast, slow), *range(fast + 1, slow)]:
            found = verdict(tried)
            if found == "SLOWER":
                slow = tried
                break
            if found == "SAME":
                fast = tried
                break
    return slow


def around(fast, slow):
    middle = (fast + slow) // 2
    places = [middle, middle]
    distance = 1
    while distance < slow - fast:
        places += [middle + distance, middle - distance]
        distance *= 2
    return [min(max(place, fast + 1), slow - 1) for place in places]
