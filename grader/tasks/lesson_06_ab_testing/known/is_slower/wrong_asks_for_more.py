"""Waiting for evidence that B is slower by more than the threshold gives these wrong answers. With a slowdown of
exactly the threshold, only half of the pairs lie above the threshold, so the evidence never becomes sufficient. Test
whether B is slower at all.
"""


def is_slower(next_pair, threshold):
    capital = 1.0
    for _ in range(200):
        a, b = next_pair()
        capital *= 1.5 if b > a * (1 + threshold) else 0.5
        if capital >= 100:
            return True
    return False
