"""Takes half of the samples that the baseline takes."""


def share(sample, name, margin):
    hits, misses = 0, 0
    while hits + misses < 2 / margin / margin:
        stack = sample()
        if len(stack) == 0:
            continue
        if stack.count(name) > 0:
            hits += 1
        else:
            misses += 1
    return hits / (hits + misses)
