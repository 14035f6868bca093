"""Compile TorchScript models from source text, and store them in the user's cache folder.

TorchScript can read source code only from a file, so the text is written to a file and imported. TorchScript is
deprecated, so the suite measures it only if a file of definitions requests this. `harness.compilers.torchscript` checks
whether the installed torch still has TorchScript, and hides its warnings.
"""

import importlib.util
import sys
import tempfile
from pathlib import Path

import torch

from harness.compilers import torchscript_warnings_hidden
from harness.errors import UsageError
from harness.storage import disk_cache


def path_of(source: str) -> Path:
    """Return the path of the compiled model of `source` for the installed version of torch. It may not exist yet."""
    name = disk_cache.digest({"source": source, "torch": torch.__version__})
    return disk_cache.folder() / "torchscript" / f"{name}.pt"


def make(source: str) -> Path:
    """Return the path of the TorchScript model of `source`. If the cache does not have it, compile it.

    Exceptions of the compiler are not caught.
    """
    path = path_of(source)
    if path.exists():
        return path
    with tempfile.TemporaryDirectory(dir=disk_cache.made(path.parent), prefix=".making-") as folder:
        file = Path(folder) / "model_source.py"
        file.write_text(f"import torch\n{source}\n", encoding="utf-8")
        with torchscript_warnings_hidden():
            torch.jit.save(torch.jit.script(_import(file).model), str(file.with_suffix(".pt")))
        file.with_suffix(".pt").replace(path)
    return path


class _Source:
    model: torch.nn.Module


def _import(file: Path) -> _Source:
    name = f"{file.stem}_{file.parent.name.strip('.-')}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # `inspect` looks here for the source of a class
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    if not hasattr(module, "model"):
        raise UsageError("The source of a TorchScript model must define `model`.")
    return module  # type: ignore[return-value]  # a module with a model
