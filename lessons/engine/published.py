"""Figures that others have published, each with its source, to stand beside what the reader has just measured."""

from typing import Final

RECIPE_THREADS: Final = (
    ("recipe: timeit", 239.9e-6, 187.7e-6),
    ("recipe: Timer, 1 thread", 1.22e-3, 792e-6),
    ("recipe: Timer, 8 threads", 348.6e-6, 201.4e-6),
    ("another: timeit", 99.2e-6, 70.7e-6),
    ("another: Timer, 1 thread", 150.1e-6, 293.2e-6),
    ("another: Timer, 12 threads", 47.9e-6, 57.1e-6),
)
"""Seconds of mul-sum and bmm on 10000×64: PyTorch's benchmark recipe, and another machine's run of its notebook.

docs.pytorch.org/tutorials/recipes/recipes/benchmark.html
"""

LECTURE_RUNS_S: Final = (3.47, 2.99, 2.99, 2.03, 2.98)
LECTURE_LOOPS: Final = 20
"""A lecture on high-performance machine learning: `python -m timeit` of a NumPy product of 1000×1000, its raw times and
the loops in each."""

ON_GPUS: Final = (
    ("10000×1024, timeit, first", 266.6e-6, 826.7e-6),
    ("10000×1024, timeit, warm", 31.4e-6, 35.1e-6),
    ("10000×1024, Timer", 407.4e-6, 445.2e-6),
    ("10000×64, timeit, first", 10.0e-6, 14.5e-6),
    ("10000×64, timeit, warm", 5.9e-6, 6.6e-6),
    ("10000×64, Timer, 100 runs", 29.1e-6, 29.6e-6),
    ("10000×64, blocked_autorange", 7.93e-6, 14.23e-6),
)
"""Seconds a call of mul-sum and bmm on GPUs, `timeit` without synchronisation. The first three: PyTorch's benchmark
recipe. The others: the same notebook on another GPU."""

QUICK_START_TIMERS: Final = (("Python", 2.34e-6, 0.07e-6), ("C++", 1.21e-6, 0.03e-6))
"""Seconds, median and IQR, of `x * y` on 128 numbers by the Timer of either language: PyTorch's Timer quick start.

docs.pytorch.org/tutorials/recipes/recipes/timer_quick_start.html
"""
GUIDE_MASK_S: Final = (375.8e-3, 463.2e-3)
GUIDE_MASK_GB: Final = 3
"""A public guide to torch.profiler: on a module that works with a mask, the own time of `aten::nonzero`, the time of
all operators, and the memory that the former takes, in GB."""

PROFILED_TIMES: Final = (1.4, 1.6)
"""How many times as long programs took under torch.profiler, measured on a shared 2-core machine with torch 2.13."""
