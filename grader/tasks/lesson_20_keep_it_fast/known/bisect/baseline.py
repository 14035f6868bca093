"""Compares every commit once, from the oldest, and then again those between the last SAME and the first SLOWER."""


def bisect(verdict, commits):
    found = [verdict(number) for number in range(commits)]
    while True:
        fast = max([-1, *(number for number in range(commits) if found[number] == "SAME")])
        slow = min([commits - 1, *(number for number in range(commits) if found[number] == "SLOWER")])
        if slow - fast == 1:
            return slow
        for number in range(fast + 1, slow):
            found[number] = verdict(number)
