"""Compile the models of benchmarks from source texts, with `torch.compile`."""

import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch

from harness.compilers.inductor import prepare
from harness.errors import UsageError

COMPILED: Final = "compiled_model"  # the name of the model in the code of a benchmark with `torch.compile`


def compiled_names(source: str) -> dict[str, Any]:
    """Compile the model in `source`, and return the global variables of a benchmark: `torch` and `compiled_model`."""
    prepare()
    with tempfile.TemporaryDirectory() as folder, _model(source, Path(folder)) as model:
        return {"torch": torch, COMPILED: torch.compile(model)}


@contextmanager
def _model(source: str, folder: Path) -> Iterator[Any]:
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
