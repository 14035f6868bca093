"""Compile Python and torch code for measurements, and show what the compilers do.

lacking()               # the command that installs a missing C++ compiler, or ""
cannot_compile()        # the reason why torch.compile does not run on this machine, or ""
unsupported()           # the reason why torch.compile does not run on this version of Python, or ""
torchscript_support()   # whether torch has TorchScript; torchscript_warnings_hidden() hides its warnings
build(source, name)     # a C function, compiled ahead of time
prepare()               # import torch's compiler, and use fairclock's cache folder for it
kernel_of(compiled, x)  # the C++ code that torch.compile writes
captured(function, x)   # the number of graphs that torch captures, and why and where they end
watch_recompilations()  # the recompilations during a `with` block, with the guards that failed
guards_of(function)     # the guards of the compiled versions of a function
refusal(call)           # the error of torch.export, without its logs
verdict(way, f, x)      # whether a function that was captured in some way returns the same tensor
times_under_each(f, n)  # the times of a function under CPython, PyPy, Cython and Nuitka
starts(program)         # the time of a program's first call in a new process, with empty and with filled caches
calls_to_break_even(c, s, f)  # the number of calls after which compiling pays off
traffic(function, x)    # the operations that torch runs, and the bytes that each operation reads and writes
"""

from harness.compilers.capture import (
    Captured,
    OperationTraffic,
    Recompilation,
    captured,
    guards_of,
    refusal,
    traffic,
    verdict,
    watch_recompilations,
)
from harness.compilers.inductor import (
    TorchScriptSupport,
    build,
    cannot_compile,
    kernel_of,
    lacking,
    prepare,
    torchscript_support,
    torchscript_warnings_hidden,
    unsupported,
)
from harness.compilers.new_processes import (
    ImplementationTimes,
    Start,
    Starts,
    calls_to_break_even,
    starts,
    times_under_each,
)
