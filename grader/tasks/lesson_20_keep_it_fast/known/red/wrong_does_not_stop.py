"""Going on after the first p-value that is too large gives these wrong answers. This p-value belongs to a group of each
later benchmark, so no later benchmark may be called slower.
"""


def red(p_values, run_error):
    ordered = sorted((p, name) for name, p in p_values.items())
    return [name for rank, (p, name) in enumerate(ordered) if p <= run_error / (len(ordered) - rank)]
