import math

import torch


def batched_dot(a: torch.Tensor, b: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    # two products, one sum, no Python per row
    return (a * b * w).sum(dim=1)


def agrees(f, g, cases) -> bool:
    eps = {"float32": 2**-23, "float64": 2**-52, "int64": 0}
    for case in cases:
        got = g(case)  # before f, which then sees what g has done to the tensors
        values, magnitudes = f(case)
        if len(got) != len(values):
            return False
        for x, y, size in zip(got, values, magnitudes):
            if math.isfinite(y):
                same = abs(x - y) <= (case["n"] + 1) * eps[case["dtype"]] * size
            else:
                same = x == y or (math.isnan(x) and math.isnan(y))
            if not same:
                return False
    return True
