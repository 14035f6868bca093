"""`torch.compile` with Inductor, its own compiler, which writes C++ for a CPU and has it compiled.

What Inductor compiles it keeps, keyed by the graph, the inputs' properties, its settings, torch's version and this
processor. Here that is in a folder of the kit's own in the user's cache, beside what else is kept between runs.
"""

import importlib
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from harness import disk_cache, programs
from harness.compilers.torchscript import deprecated
from harness.compilers.waiting import waiting

CACHE_VARIABLE: Final = "TORCHINDUCTOR_CACHE_DIR"
THREADS_VARIABLE: Final = "TORCHINDUCTOR_COMPILE_THREADS"
"""Inductor compiles in a pool of processes; with one thread it starts none, and none outlives a measurement."""

_KERNEL: Final = re.compile(r"r?'''(.*?)'''", re.DOTALL)


def lacking() -> str:
    """Return which compiler this machine lacks, with the command that brings it, or ""."""
    return programs.lacking_compiler("a C++ compiler", programs.CPP_COMPILER, compiler())


@cache
def unsupported() -> str:
    """Return why torch refuses `torch.compile` on this Python, in torch's own words, or "".

    Called without a function, `torch.compile` checks the Python and does nothing else. A named backend keeps it from
    importing the compiler, which takes seconds.
    """
    try:
        torch.compile(backend="eager")
    except RuntimeError as refusal:
        return f"torch {torch.__version__.partition('+')[0]}: {refusal}"
    return ""


def cannot_compile() -> str:
    """Return why `torch.compile` does not run here: this Python, or a missing compiler with what brings it; else ""."""
    return unsupported() or lacking()


def compiler() -> str:
    """The C++ compiler that Inductor takes."""
    return os.environ.get("CXX", "clang++" if sys.platform == "darwin" else "g++")


def cache_folder() -> Path:
    """Where compiled graphs are kept; it need not exist yet."""
    return disk_cache.folder() / "inductor"


def prepare() -> None:
    """Make `torch.compile` ready: import its compiler, which takes seconds, and keep what it makes in `cache_folder`.

    Whoever has chosen another folder (`TORCHINDUCTOR_CACHE_DIR`) keeps it. Part of it may have been imported before, so
    the number of its processes is set, too.
    """
    os.environ.setdefault(CACHE_VARIABLE, str(cache_folder()))
    os.environ.setdefault(THREADS_VARIABLE, "1")
    with deprecated(), waiting("importing torch's compiler"):
        importlib.import_module("torch._inductor.compile_fx")
    from torch._inductor import config  # noqa: PLC0415 - takes seconds, and needs the variables set

    config.compile_threads = int(os.environ[THREADS_VARIABLE])


def kernel_of(compiled: Callable[[Tensor], object], x: Tensor) -> str:
    """Return the C++ that Inductor wrote for a compiled function, called with `x`; "" if it wrote none.

    Whatever was compiled before is forgotten: `torch._dynamo.reset`.
    """
    from torch._inductor.utils import run_and_get_code  # noqa: PLC0415 - takes seconds, and needs the variables set

    with waiting("compiling what Inductor has written"):
        _, sources = run_and_get_code(compiled, x)  # type: ignore[no-untyped-call,unused-ignore]
    written = [found for source in sources for found in _KERNEL.findall(source) if "for(" in found]
    return "\n".join(each.strip() for each in written)
