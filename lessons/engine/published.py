"""Published figures with their sources. Lessons show them beside the figures that they have just measured."""

from typing import Final

RECIPE_FUZZED: Final = ("2140 × 1296", 2000e-6, 41_000e-6)
"""The seconds per call of mul-sum and of bmm with one thread, on a drawn input that is not contiguous.

Source: PyTorch's benchmark recipe, docs.pytorch.org/tutorials/recipes/recipes/benchmark.html
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
