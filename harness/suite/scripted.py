"""TorchScript models: made from source text once, and kept in the user's cache folder for all that load them.

TorchScript reads source code from a file, so the text is written to one and imported. TorchScript is deprecated: the
suite measures it only where a file of definitions asks for it. `harness.compilers.torchscript` says whether this torch
still has it, and hides its warnings.
"""

import importlib.util
import sys
import tempfile
from pathlib import Path

import torch

from harness import disk_cache
from harness.compilers import deprecated
from harness.errors import UsageError


def path_of(source: str) -> Path:
    """Where the model made from `source` is kept; the same text and release of torch, the same place."""
    name = disk_cache.digest({"source": source, "torch": torch.__version__})
    return disk_cache.folder() / "torchscript" / f"{name}.pt"


def make(source: str) -> Path:
    """Script the `model` that `source` defines, unless that was done before; return where it lies.

    What scripting raises passes through.
    """
    path = path_of(source)
    if path.exists():
        return path
    with tempfile.TemporaryDirectory(dir=disk_cache.made(path.parent), prefix=".making-") as folder:
        file = Path(folder) / "model_source.py"
        file.write_text(f"import torch\n{source}\n", encoding="utf-8")
        with deprecated():
            torch.jit.save(torch.jit.script(_import(file).model), str(file.with_suffix(".pt")))
        file.with_suffix(".pt").replace(path)
    return path


class _Source:
    """A module whose source defines a model."""

    model: torch.nn.Module


def _import(file: Path) -> _Source:
    name = f"{file.stem}_{file.parent.name.strip('.-')}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where `inspect` looks for the source of a class
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    if not hasattr(module, "model"):
        raise UsageError("The source of a model to script has to define `model`.")
    return module  # type: ignore[return-value]  # a module with a model in it
