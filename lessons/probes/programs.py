"""Programs that a lesson starts in new processes, with empty and with filled caches of their compilers."""

from typing import Final

from harness.compilers.new_processes import Starts
from lessons.engine.api import Figures, Lacking

NUMBA_PROGRAM: Final = """
import numba
import numpy as np
@numba.njit(cache=True)
def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.8 * (x + 0.0447 * x**3)))
@numba.njit(cache=True)
def distances(x, y):
    out = np.empty((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            out[i, j] = np.abs(gelu(x[i]) - gelu(y[j])).sum()
    return out
x = np.ones((4, 4))
def call():
    distances(x, x)
"""

GELU_PROGRAM: Final = """
import torch, torch._inductor.compile_fx
torch.set_num_threads(1)
x = torch.rand(1 << 20)
@torch.compile(dynamic=True)
def gelu(x):
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + torch.tanh(inner))
def call():
    gelu(x)
"""


def start_figures(found: Starts) -> Figures:
    """Return `empty_s`, `filled_to_empty` and the date `measured` of two starts. All are lacking without times.

    `empty_s` is the time of the first call with an empty cache, in seconds. `filled_to_empty` is the time of the first
    call with a filled cache divided by `empty_s`.
    """
    empty, filled = found.empty, found.filled
    if empty is None or filled is None:
        return dict.fromkeys(("empty_s", "filled_to_empty", "measured"), Lacking(found.reason))
    ratio = filled.first_s / empty.first_s
    return {"empty_s": empty.first_s, "filled_to_empty": ratio, "measured": found.measured}
