"""Compilers of Python and torch code, made ready for measuring: what is missing, what is kept, what a start costs.

from harness.compilers import lacking, prepare, starts, traffic

lacking()                   # "" or the compiler that this machine lacks, with what brings it
prepare()                   # torch.compile, with a cache folder of the kit's own and its import's warnings hidden
starts(program)             # the first call of a program in a fresh process: with caches empty, then filled
traffic(function, x)        # which operations torch ran, and how many bytes each read and wrote
"""

from harness.compilers.ahead import build
from harness.compilers.capture import Captured, captured
from harness.compilers.inductor import kernel_of, lacking, prepare
from harness.compilers.starts import Start, Starts, starts
from harness.compilers.torchscript import deprecated
from harness.compilers.traffic import Pass, traffic

__all__ = [
    "Captured",
    "Pass",
    "Start",
    "Starts",
    "build",
    "captured",
    "deprecated",
    "kernel_of",
    "lacking",
    "prepare",
    "starts",
    "traffic",
]
