"""Compilers of Python and torch code, made ready for measuring: what is missing, what is kept, what a start costs.

from harness.compilers import cannot_compile, prepare, starts, traffic

lacking()               # "" or the compiler that this machine lacks, with what brings it
cannot_compile()        # "" or why torch.compile does not run here; unsupported(): the same without the C++ compiler
torchscript_support()   # whether torch still has TorchScript; deprecated(): its warnings hidden
build(source, name)     # a C function, compiled ahead of time
prepare()               # torch.compile with a cache folder of the kit's own, its import's warnings hidden
kernel_of(compiled, x)  # the C++ that torch.compile has written
captured(function, x)   # how many graphs it captures, and why they end; guards_of(function): what they ask
refusal(call)           # what torch.export says where it refuses, its logs off
starts(program)         # the first call of a program in a fresh process: with caches empty, then filled
traffic(function, x)    # which operations torch ran, and how many bytes each read and wrote
"""

from harness.compilers.ahead import build
from harness.compilers.capture import Captured, captured, guards_of, refusal
from harness.compilers.inductor import cannot_compile, kernel_of, lacking, prepare, unsupported
from harness.compilers.starts import Start, Starts, starts
from harness.compilers.torchscript import Support, deprecated, torchscript_support
from harness.compilers.traffic import Pass, traffic

__all__ = [
    "Captured",
    "Pass",
    "Start",
    "Starts",
    "Support",
    "build",
    "cannot_compile",
    "captured",
    "deprecated",
    "guards_of",
    "kernel_of",
    "lacking",
    "prepare",
    "refusal",
    "starts",
    "torchscript_support",
    "traffic",
    "unsupported",
]
