"""Sorts all p-values, and compares each with its own limit.

Trade: It is the textbook's form of Holm's method. It also sorts the p-values that are too large for any limit.
"""


def red(p_values, run_error):
    ordered = sorted((p, name) for name, p in p_values.items())
    for rank, (p, _) in enumerate(ordered):
        if p > run_error / (len(ordered) - rank):
            return [name for _, name in ordered[:rank]]
    return [name for _, name in ordered]
