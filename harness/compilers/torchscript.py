"""Check whether the installed torch has TorchScript, an older compiler, and hide the warnings of TorchScript.

TorchScript is deprecated since torch 2.5, and `torch.compile` and `torch.export` replace it. Since torch 2.10, each use
prints a warning. On Python 3.14 and newer, torch does not support TorchScript, and warns that it may break. Up to torch
2.13, importing torch's compiler also prints a warning, because the compiler uses parts of TorchScript.
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

# The beginning of torch's warnings about TorchScript: a DeprecationWarning up to torch 2.13, a FutureWarning in 2.15.
_WARNINGS: Final = r"`torch\.jit\."

_UNSUPPORTED: Final = re.compile(r"is not supported in Python")


@dataclass(frozen=True, slots=True)
class TorchScriptSupport:
    """Whether TorchScript works with the installed torch and the running Python.

    `runs` is False if torch has no TorchScript or cannot compile a module with it. `reason` then states why. If
    TorchScript runs although torch does not support it on this version of Python, `reason` states this. Otherwise,
    `reason` is "".
    """

    runs: bool
    reason: str = ""


@cache
def torchscript_support() -> TorchScriptSupport:
    """Return whether torch has TorchScript and supports it on this version of Python.

    To find out, an empty module is compiled with TorchScript. Its exceptions and warnings give the answer.
    """
    here = f"torch {torch.__version__.partition('+')[0]}"
    script = getattr(getattr(torch, "jit", None), "script", None)
    if script is None:
        return TorchScriptSupport(False, f"{here} no longer has TorchScript (torch.jit.script)")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            script(torch.nn.Identity())
        except Exception as error:  # noqa: BLE001 - torch 2.9 raises AttributeError on Python 3.14; other versions may raise other exceptions
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            return TorchScriptSupport(
                False, f"{here} cannot use TorchScript on Python {platform.python_version()} ({what})"
            )
    if any(_UNSUPPORTED.search(str(each.message)) for each in seen):
        return TorchScriptSupport(True, f"{here} does not support TorchScript on Python {platform.python_version()}")
    return TorchScriptSupport(True)


@contextmanager
def torchscript_warnings_hidden() -> Iterator[None]:
    """Hide torch's warnings about TorchScript (deprecated, not supported, tracer) during a `with` block."""
    with warnings.catch_warnings():
        if tracer := getattr(getattr(torch, "jit", None), "TracerWarning", None):
            warnings.simplefilter("ignore", tracer)
        warnings.filterwarnings("ignore", _WARNINGS)
        yield
