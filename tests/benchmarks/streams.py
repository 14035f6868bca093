"""Arrays far larger than the last-level cache, of which every call uses the next part.

The data of a part was last used so long ago that it comes from memory. This is true whether or not a tool runs baseline
and candidate in alternation.
"""

from itertools import cycle

import torch

STRIDE = 2_000_000
"""The elements from one window to the next: twice the baseline's million."""

_WINDOWS = 16

x = torch.ones(_WINDOWS * STRIDE)
out = torch.ones(_WINDOWS * STRIDE)
starts = cycle(range(0, _WINDOWS * STRIDE, STRIDE))
