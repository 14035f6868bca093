"""The bet is right, and the alarm is raised at a capital of 5. On a fair coin that is reached with a probability of up
to 1 in 5; for 1 in 100 it takes a capital of 100."""


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
