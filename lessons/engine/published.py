"""Published figures with their sources. Lessons show them beside the figures that they have just measured."""

from typing import Final

RECIPE_SHAPES: Final = (
    ("1 × 1", 5.9e-6, 11.2e-6),
    ("1 × 64", 6.4e-6, 11.4e-6),
    ("1 × 1024", 6.7e-6, 14.2e-6),
    ("1 × 10000", 10.2e-6, 23.7e-6),
    ("64 × 1", 6.3e-6, 11.5e-6),
    ("64 × 64", 8.6e-6, 15.4e-6),
    ("64 × 1024", 39.4e-6, 204.4e-6),
    ("64 × 10000", 274.9e-6, 748.5e-6),
    ("1024 × 1", 7.7e-6, 17.8e-6),
    ("1024 × 64", 40.3e-6, 76.4e-6),
    ("1024 × 1024", 432.4e-6, 2795.9e-6),
    ("1024 × 10000", 22_657.3e-6, 11_899.5e-6),
    ("10000 × 1", 16.9e-6, 74.8e-6),
    ("10000 × 64", 300.3e-6, 609.4e-6),
    ("10000 × 1024", 23_098.6e-6, 27_246.1e-6),
    ("10000 × 10000", 267_073.7e-6, 118_823.7e-6),
)
RECIPE_FUZZED: Final = ("2140 × 1296", 2000e-6, 41_000e-6)
"""The times of mul-sum and of bmm with one thread, on an input that a fuzzer drew and that is not contiguous.

`RECIPE_SHAPES` are the times on the sixteen shapes that the author chose. Both are in seconds, from PyTorch's benchmark
recipe. docs.pytorch.org/tutorials/recipes/recipes/benchmark.html
"""

ON_A_GPU: Final = ((27.6e-6, 2775.5e-6), (25.3e-6, 22.4e-6), (232.93e-6, 181.04e-6))
"""The seconds per call of mul-sum and of bmm, two versions of a batched dot product of tensors of 10000×1024, on a GPU.

The rows are the first result of `timeit`, the second result of `timeit`, and the result of torch's Timer. `timeit` ran
without synchronization. Source: PyTorch's benchmark recipe.
"""

QUICK_START_TIMERS: Final = (("Python", 2.34e-6, 0.07e-6), ("C++", 1.21e-6, 0.03e-6))
"""The median and the IQR of the time of `x * y` on 128 numbers, timed from Python and from C++, in seconds.

Source: PyTorch's Timer quick start, docs.pytorch.org/tutorials/recipes/recipes/timer_quick_start.html
"""
GUIDE_MASK_S: Final = (375.8e-3, 463.2e-3)
GUIDE_MASK_GB: Final = 3
"""The memory in GB that `aten::nonzero` allocates in a module that computes with a mask.

`GUIDE_MASK_S` are its times in seconds: the own time of `aten::nonzero` and the time of all operators. Source: a public
guide to torch.profiler.
"""

PROFILED_TIMES: Final = (1.4, 1.6)
"""The smallest and the largest ratio of a program's time with torch.profiler to its time without the profiler.

Measured on a shared machine with two cores and torch 2.13.
"""
