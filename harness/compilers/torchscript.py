"""TorchScript, PyTorch's compiler before `torch.compile`: whether this torch still has it, and its warnings hidden.

PyTorch's documentation calls TorchScript deprecated since torch 2.5; `torch.compile` and `torch.export` replace it.
From torch 2.10 on each use warns. On Python 3.14 and newer torch does not support it, and says that it may break. Up to
torch 2.13, torch's own compiler uses parts of it while it is imported, so that importing it warns as well.
"""

import platform
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Final

import torch

_WARNINGS: Final = r"`torch\.jit\."
"""How torch's warnings about TorchScript begin: a DeprecationWarning up to torch 2.13, a FutureWarning in 2.15."""

_UNSUPPORTED: Final = re.compile(r"is not supported in Python")


@dataclass(frozen=True, slots=True)
class Support:
    """Whether TorchScript can be used here.

    `runs` is False where torch has no TorchScript, or cannot script a module. `reason` says why; where TorchScript runs
    although torch does not support it on this Python, it says that. It is "" where all is well.
    """

    runs: bool
    reason: str = ""


@cache
def torchscript_support() -> Support:
    """Ask torch whether it has TorchScript and supports it on this Python.

    That is seen from what it raises and warns of when it scripts a module that does nothing.
    """
    here = f"torch {torch.__version__.partition('+')[0]}"
    script = getattr(getattr(torch, "jit", None), "script", None)
    if script is None:
        return Support(False, f"{here} has no TorchScript any more (torch.jit.script)")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            script(torch.nn.Identity())
        except Exception as error:  # noqa: BLE001 - torch 2.9 raises AttributeError on Python 3.14; others may raise more
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            return Support(False, f"{here} cannot use TorchScript on Python {platform.python_version()} ({what})")
    if any(_UNSUPPORTED.search(str(each.message)) for each in told):
        return Support(True, f"{here} does not support TorchScript on Python {platform.python_version()}")
    return Support(True)


@contextmanager
def deprecated() -> Iterator[None]:
    """Hide torch's warnings that TorchScript is deprecated or not supported, and that a trace may not hold."""
    with warnings.catch_warnings():
        if tracer := getattr(getattr(torch, "jit", None), "TracerWarning", None):
            warnings.simplefilter("ignore", tracer)
        warnings.filterwarnings("ignore", _WARNINGS)
        yield
