"""Programs that a lesson starts in new processes, with empty and with filled caches of their compilers."""

from typing import Final

from harness.compilers.new_processes import Starts
from lessons.engine.api import Figures, Lacking, Rows

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
    """Return the rows `starts` of two starts, the date `measured`, and the ratio `filled_to_empty` of the first calls.

    A row contains the seconds of the imports, of the first call and of the second call. All three figures are lacking
    if there are no times.
    """
    empty, filled = found.empty, found.filled
    if empty is None or filled is None:
        return dict.fromkeys(("starts", "measured", "filled_to_empty"), Lacking(found.reason))
    return {
        "starts": Rows([(each.import_s, each.first_s, each.again_s) for each in (empty, filled)]),
        "measured": found.measured,
        "filled_to_empty": filled.first_s / empty.first_s,
    }
