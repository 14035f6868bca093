"""Arrays far larger than the last cache, shared by both sides of a comparison, to be read and written window by window.

Every call takes the next window, whoever calls: what it touches was last touched so long ago that it comes from memory,
in a tool that interleaves the sides as in one that does not.
"""

from itertools import cycle

import torch

STRIDE = 2_000_000
"""Elements from one window to the next: room for the baseline's million, twice."""

_WINDOWS = 16

x = torch.ones(_WINDOWS * STRIDE)
out = torch.ones(_WINDOWS * STRIDE)
starts = cycle(range(0, _WINDOWS * STRIDE, STRIDE))
