"""Makes two bets, and stakes two fifths of the capital on each pair."""


def is_slower(next_pair, threshold):
    slower = equal = 1.0
    for _ in range(1000):
        a, b = next_pair()
        slower *= 1.4 if b > a else 0.6
        equal *= 1.4 if b < a * (1 + threshold) else 0.6
        if slower >= 100:
            return True
        if equal >= 20:
            return False
    return False
