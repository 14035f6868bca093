"""Compares f and g on every case first. If all are right, a second pass calls f again to find changed tensors.

Trade: It separates two questions: are the values right, and did g change the tensors? A right g needs two calls of f
per case.
"""

from tier3_small_cases_first import right_values, unchanged


def agrees(f, g, cases):
    remembered = []
    for case in cases:
        values, magnitudes = map(tuple, f(case))
        remembered.append((values, magnitudes))
        if not right_values(case, g(case), values, magnitudes):
            return False
    return all(unchanged(before, f(case)) for case, before in zip(cases, remembered))
