"""An alarm at a capital of 5 gives these wrong answers. If A and B are equally fast, the capital of a bet reaches 5
with a probability of up to 1 in 5. For a probability of at most 1 in 100, wait for a capital of 100.
"""


def is_slower(next_pair, threshold):
    slower = equal = 1.0
    for _ in range(1000):
        a, b = next_pair()
        slower *= 1.5 if b > a else 0.5
        equal *= 1.5 if b < a * (1 + threshold) else 0.5
        if slower >= 5:
            return True
        if equal >= 20:
            return False
    return False
