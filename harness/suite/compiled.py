"""Compile models from source text with `torch.compile`, in the process that measures them.

A model is compiled at its first call, in the setup of its benchmark. Inductor's output is stored in fairclock's cache
folder, so that later processes compile faster.
"""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import torch

from harness.compilers import prepare
from harness.errors import UsageError

NAME: Final = "compiled_model"
"""The name of the compiled model in a benchmark's code."""

_MODULE: Final = "harness_suite_model"


def names(source: str) -> dict[str, Any]:
    """Compile the model in `source`, and return the global variables of a benchmark: `torch` and `compiled_model`.

    Raise `UsageError` if `source` does not define a function or module `model`.
    """
    module = ModuleType(_MODULE)
    sys.modules[_MODULE] = module  # torch looks here for the names that a function uses
    module.__dict__["torch"] = torch
    exec(compile(source, _MODULE, "exec"), module.__dict__)  # noqa: S102 - as Timer does with a setup
    model: Callable[..., object] | None = module.__dict__.get("model")
    if model is None:
        raise UsageError("The source of a model to compile must define `model`.")
    prepare()
    return {"torch": torch, NAME: torch.compile(model)}
