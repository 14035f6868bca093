"""Compile Python and torch code for measurements, and show what the compilers do.

lacking()               # the command that installs a missing C++ compiler, or ""
cannot_compile()        # the reason why torch.compile does not run on this machine, or ""
unsupported()           # the reason why torch.compile does not run on this version of Python, or ""
torchscript_support()   # whether torch has TorchScript; torchscript_warnings_hidden() hides its warnings
build(source, name)     # a C function, compiled ahead of time
prepare()               # import torch's compiler, and use fairclock's cache folder for it
kernel_of(compiled, x)  # the C++ code that torch.compile writes
captured(function, x)   # the number of graphs that torch captures, and why they end
guards_of(function)     # the guards of the compiled versions of a function
refusal(call)           # the error of torch.export, without its logs
times_under_each(f, n)  # the times of a function under CPython, PyPy, Cython and Nuitka
starts(program)         # the time of a program's first call in a new process, with empty and with filled caches
traffic(function, x)    # the operations that torch runs, and the bytes that each operation reads and writes
"""

from harness.compilers.ahead import build
from harness.compilers.capture import Captured, captured, guards_of, refusal
from harness.compilers.implementations import ImplementationTimes, times_under_each
from harness.compilers.inductor import cannot_compile, kernel_of, lacking, prepare, unsupported
from harness.compilers.starts import Start, Starts, starts
from harness.compilers.torchscript import TorchScriptSupport, torchscript_support, torchscript_warnings_hidden
from harness.compilers.traffic import OperationTraffic, traffic

__all__ = [
    "Captured",
    "ImplementationTimes",
    "OperationTraffic",
    "Start",
    "Starts",
    "TorchScriptSupport",
    "build",
    "cannot_compile",
    "captured",
    "guards_of",
    "kernel_of",
    "lacking",
    "prepare",
    "refusal",
    "starts",
    "times_under_each",
    "torchscript_support",
    "torchscript_warnings_hidden",
    "traffic",
    "unsupported",
]
