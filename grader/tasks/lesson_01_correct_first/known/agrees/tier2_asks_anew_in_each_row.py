"""Calls f, g and f again in each row, and compares only that row. Calls f and g once for an empty case."""

import math


def agrees(f, g, cases):
    for case in cases:
        if case["rows"] == 0:
            f(case)
            if len(g(case)) != 0:
                return False
            continue
        # f is called before g, because g may change the tensors in the first row
        original_values, original_magnitudes = f(case)
        original_values, original_magnitudes = list(original_values), list(original_magnitudes)
        for row in range(case["rows"]):
            answer = g(case)
            if len(answer) != case["rows"]:
                return False
            value, magnitude, x = original_values[row], original_magnitudes[row], answer[row]
            if math.isnan(value):
                if not math.isnan(x):
                    return False
            elif case["dtype"] == "int64" or math.isinf(value):
                if x != value:
                    return False
            else:
                eps = 2.0**-23 if case["dtype"] == "float32" else 2.0**-52
                if not abs(x - value) <= (case["n"] + 1) * eps * magnitude:
                    return False
            values, magnitudes = f(case)
            for old, new in ((original_values, values), (original_magnitudes, magnitudes)):
                if len(old) != len(new):
                    return False
                for p, q in zip(old, new):
                    if not (p == q or (math.isnan(p) and math.isnan(q))):
                        return False
    return True
