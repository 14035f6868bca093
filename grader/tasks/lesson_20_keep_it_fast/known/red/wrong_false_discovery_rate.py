"""Using the method of Benjamini and Hochberg gives these wrong answers. It limits the share of mistakes among the
benchmarks that are called slower. But a run is red by mistake if there is a single one, and that is more often.
"""


def red(p_values, run_error):
    ordered = sorted((p, name) for name, p in p_values.items())
    last = 0
    for rank, (p, _) in enumerate(ordered, start=1):
        if p <= run_error * rank / len(ordered):
            last = rank
    return [name for _, name in ordered[:last]]
