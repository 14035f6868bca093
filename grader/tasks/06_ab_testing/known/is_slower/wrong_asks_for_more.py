"""Evidence was asked for that B is slower by more than the threshold. When it is slower by just that, half of the pairs
lie below and half above, and no evidence will ever come: ask whether it is slower at all."""


def is_slower(next_pair, threshold):
    capital = 1.0
    for _ in range(200):
        a, b = next_pair()
        capital *= 1.5 if b > a * (1 + threshold) else 0.5
        if capital >= 100:
            return True
    return False
