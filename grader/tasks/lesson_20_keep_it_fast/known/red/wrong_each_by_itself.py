"""Comparing each p-value with run_error gives these wrong answers. Then each benchmark has this error rate, and a run of
ten benchmarks is red by mistake about ten times as often. Divide run_error among the benchmarks.
"""


def red(p_values, run_error):
    ordered = sorted((p, name) for name, p in p_values.items())
    return [name for p, name in ordered if p <= run_error]
