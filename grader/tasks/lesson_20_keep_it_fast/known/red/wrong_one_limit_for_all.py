"""Comparing each p-value with run_error / n gives these wrong answers. This is Bonferroni's method. It keeps the error
rate, but it misses benchmarks: after one benchmark was called slower, the others need only run_error / (n - 1).
"""


def red(p_values, run_error):
    ordered = sorted((p, name) for name, p in p_values.items())
    return [name for p, name in ordered if p <= run_error / len(ordered)]
