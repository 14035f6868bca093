"""Searches the smallest of the remaining p-values again and again.

Trade: It follows the argument step by step. Each search goes through all remaining benchmarks.
"""


def red(p_values, run_error):
    left = dict(p_values)
    found = []
    while left:
        name = min(left, key=lambda each: (left[each], each))
        if left[name] > run_error / len(left):
            break
        found.append(name)
        del left[name]
    return found
