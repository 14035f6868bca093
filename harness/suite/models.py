"""Compile the models of benchmarks from source texts, with `torch.compile` or TorchScript."""

import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch

from harness.compilers.inductor import prepare, torchscript_warnings_hidden
from harness.errors import UsageError
from harness.storage import disk_cache

COMPILED: Final = "compiled_model"  # the name of the model in the code of a benchmark with `torch.compile`


def compiled_names(source: str) -> dict[str, Any]:
    """Compile the model in `source`, and return the global variables of a benchmark: `torch` and `compiled_model`.

    Raise `UsageError` if `source` does not define a function or module `model`.
    """
    prepare()
    with tempfile.TemporaryDirectory() as folder, _model(source, Path(folder)) as model:
        return {"torch": torch, COMPILED: torch.compile(model)}


def script_path(source: str) -> Path:
    """Return the path of the scripted model of `source` for the installed version of torch. It may not exist yet."""
    name = disk_cache.digest({"source": source, "torch": torch.__version__})
    return disk_cache.folder() / "torchscript" / f"{name}.pt"


def script(source: str) -> Path:
    """Return the path of the TorchScript model of `source`. If the cache does not have it, compile it.

    Raise `UsageError` if `source` does not define `model`. Exceptions of the compiler are not caught.
    """
    path = script_path(source)
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=disk_cache.made(path.parent), prefix=".making-") as folder:
            made = Path(folder, path.name)
            with torchscript_warnings_hidden(), _model(source, Path(folder)) as model:
                torch.jit.save(torch.jit.script(model), str(made))
            made.replace(path)
    return path


@contextmanager
def _model(source: str, folder: Path) -> Iterator[Any]:
    """Import `source` from a file in `folder`, because TorchScript reads source code from files. Yield its `model`."""
    file = folder / "model_source.py"
    file.write_text(f"import torch\n{source}\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module  # `inspect` and torch look here for the source and the names of a function
    spec.loader.exec_module(module)
    if not hasattr(module, "model"):
        raise UsageError("The source of a model to compile must define `model`.")
    yield module.model
