"""Prepare `torch.compile` with Inductor, torch's compiler, which writes and compiles C++ for a CPU."""

import importlib
import os
import platform
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Final

import torch
from torch import Tensor

from harness.machine import programs
from harness.rendering.wrapping import waiting
from harness.storage import disk_cache

CACHE_VARIABLE: Final = "TORCHINDUCTOR_CACHE_DIR"
THREADS_VARIABLE: Final = "TORCHINDUCTOR_COMPILE_THREADS"  # with 1, no process of Inductor outlives a measurement

# The beginning of torch's warnings about TorchScript: a DeprecationWarning up to torch 2.13, a FutureWarning in 2.15.
_WARNINGS: Final = r"`torch\.jit\."

_KERNEL: Final = re.compile(r"r?'''(.*?)'''", re.DOTALL)


def lacking() -> str:
    """Return "" if there is a C++ compiler. Otherwise return a text with the command that installs one."""
    return programs.lacking("a C++ compiler", programs.CPP_COMPILER, compiler())


@cache
def unsupported() -> str:
    """Return torch's error if `torch.compile` does not support this version of Python, or else ""."""
    try:
        torch.compile(backend="eager")  # checks only the version, and does not import Inductor
    except RuntimeError as refusal:
        return f"torch {torch.__version__.partition('+')[0]}: {refusal}"
    return ""


def cannot_compile() -> str:
    """Return the reason why `torch.compile` does not run here, an unsupported Python or a missing compiler, or ""."""
    return unsupported() or lacking()


def compiler() -> str:
    """Return the name of the C++ compiler that Inductor uses."""
    return os.environ.get("CXX", "clang++" if sys.platform == "darwin" else "g++")


def prepare() -> None:
    """Import torch's compiler, which takes seconds, and make it store compiled code in fairclock's cache folder.

    If the environment variable `TORCHINDUCTOR_CACHE_DIR` is set, the folder that it names is used instead.
    """
    os.environ.setdefault(CACHE_VARIABLE, str(disk_cache.folder() / "inductor"))
    os.environ.setdefault(THREADS_VARIABLE, "1")
    with torchscript_warnings_hidden(), waiting("importing torch's compiler"):
        importlib.import_module("torch._inductor.compile_fx")
    from torch._inductor import config  # noqa: PLC0415 - takes seconds, and needs the variables set

    config.compile_threads = int(os.environ[THREADS_VARIABLE])  # Inductor may have read the variable before


def kernel_of(compiled: Callable[[Tensor], object], x: Tensor) -> str:
    """Call a compiled function with `x`, and return the C++ code that Inductor writes for it, or "".

    This discards the code that torch has compiled before (`torch._dynamo.reset`).
    """
    from torch._inductor.utils import run_and_get_code  # noqa: PLC0415 - takes seconds, and needs the variables set

    with waiting("compiling the code that Inductor has written"):
        _, sources = run_and_get_code(compiled, x)  # type: ignore[no-untyped-call,unused-ignore]
    written = [found for source in sources for found in _KERNEL.findall(source) if "for(" in found]
    return "\n".join(each.strip() for each in written)


@dataclass(frozen=True, slots=True)
class TorchScriptSupport:
    """Whether TorchScript works with the installed torch and the running Python.

    `reason` states why it does not run, or that it runs although torch does not support it here. Otherwise it is "".
    """

    runs: bool
    reason: str = ""


@cache
def torchscript_support() -> TorchScriptSupport:
    """Return whether torch has TorchScript and supports it on this version of Python, by compiling an empty module."""
    torch_here = f"torch {torch.__version__.partition('+')[0]}"
    python = f"TorchScript on Python {platform.python_version()}"
    script = getattr(getattr(torch, "jit", None), "script", None)
    if script is None:
        return TorchScriptSupport(False, f"{torch_here} no longer has TorchScript (torch.jit.script)")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            script(torch.nn.Identity())
        except Exception as error:  # noqa: BLE001 - torch 2.9 raises AttributeError on Python 3.14; others may differ
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            return TorchScriptSupport(False, f"{torch_here} cannot use {python} ({what})")
    supported = not any("is not supported in Python" in str(each.message) for each in seen)
    return TorchScriptSupport(True, "" if supported else f"{torch_here} does not support {python}")


@contextmanager
def torchscript_warnings_hidden() -> Iterator[None]:
    """Hide torch's warnings about TorchScript (deprecated, not supported, tracer) during a `with` block."""
    with warnings.catch_warnings():
        if tracer := getattr(getattr(torch, "jit", None), "TracerWarning", None):
            warnings.simplefilter("ignore", tracer)
        warnings.filterwarnings("ignore", _WARNINGS)
        yield
