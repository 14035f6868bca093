"""Arrays far larger than the last cache, shared by both sides of a comparison and used window by window.

Every call of either side takes the next window. Its data was last used so long ago that it comes from memory, whether
or not a tool interleaves the sides.
"""

from itertools import cycle

import torch

STRIDE = 2_000_000
"""The elements from one window to the next: twice the baseline's million."""

_WINDOWS = 16

x = torch.ones(_WINDOWS * STRIDE)
out = torch.ones(_WINDOWS * STRIDE)
starts = cycle(range(0, _WINDOWS * STRIDE, STRIDE))
