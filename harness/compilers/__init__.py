"""Compilers of Python and torch code, made ready for measuring: what is missing, what is kept, what a start costs.

from harness.compilers import lacking, prepare, starts, traffic

lacking()               # "" or the compiler that this machine lacks, with what brings it
build(source, name)     # a C function, compiled ahead of time
prepare()               # torch.compile with a cache folder of the kit's own, its import's warnings hidden
kernel_of(compiled, x)  # the C++ that torch.compile has written
captured(function, x)   # how many graphs it captures, and why they end; guards_of(function): what they ask
starts(program)         # the first call of a program in a fresh process: with caches empty, then filled
traffic(function, x)    # which operations torch ran, and how many bytes each read and wrote
"""

from harness.compilers.ahead import build
from harness.compilers.capture import Captured, captured, guards_of
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
    "guards_of",
    "kernel_of",
    "lacking",
    "prepare",
    "starts",
    "traffic",
]
