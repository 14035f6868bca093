"""Models for `torch.compile`: made from source text in the process that measures them.

Compiling happens at a model's first call, which belongs to the setup of its benchmark. What Inductor wrote is kept in
the kit's cache folder, so that a second process compiles sooner.
"""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import torch

from harness.compilers import prepare
from harness.errors import UsageError

NAME: Final = "compiled_model"
"""What a benchmark calls the compiled model."""

_MODULE: Final = "harness_suite_model"


def names(source: str) -> dict[str, Any]:
    """Return the names that a benchmark's setup and statement need: torch, and the model of `source` compiled.

    `source` has to define `model`: a function or a module. Raises `UsageError` where it does not.
    """
    module = ModuleType(_MODULE)
    sys.modules[_MODULE] = module  # where torch looks for the names that a function uses
    module.__dict__["torch"] = torch
    exec(compile(source, _MODULE, "exec"), module.__dict__)  # noqa: S102 - as Timer does with a setup
    model: Callable[..., object] | None = module.__dict__.get("model")
    if model is None:
        raise UsageError("The source of a model to compile has to define `model`.")
    prepare()
    return {"torch": torch, NAME: torch.compile(model)}
