"""Taking the same small number of samples for each margin gives these wrong answers. Ten samples show a share of one
half only within about 30 percentage points. Compute the number of samples from the margin.
"""


def share(sample, name, margin):
    seen = []
    while len(seen) < 10:
        stack = sample()
        if stack:
            seen.append(name in stack)
    return sum(seen) / 10
