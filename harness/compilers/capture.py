"""What `torch.compile` captures of a function: how many graphs, why they end where they do, and behind which guards."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_TENSOR: Final = re.compile(r"TENSOR_MATCH: check_tensor\((L\['\w+'\]).*?(torch\.\w+), .*?(size=\[[^\]]*\])")
"""A guard as torch prints it: which argument, its dtype, its size with None where any will do."""


@dataclass(frozen=True, slots=True)
class Captured:
    """Graphs and operations in them, and the reasons of breaks between graphs."""

    graphs: int
    operations: int
    breaks: tuple[str, ...]


def captured(function: Callable[..., object], *inputs: object) -> Captured:
    """Capture a function as a call with `inputs` shows it; nothing is compiled, and what was is forgotten."""
    import torch._dynamo  # noqa: PLC0415 - takes seconds

    found = torch._dynamo.explain(function)(*inputs)  # noqa: SLF001
    return Captured(found.graph_count, found.op_count, tuple(str(each.reason) for each in found.break_reasons))


def guards_of(function: Callable[..., object]) -> tuple[str, ...]:
    """Return what each compiled version of a function asks of its tensors, the oldest version first.

    The function is the plain one. Of a version's many guards these are what differs between versions.
    """
    from torch._dynamo.eval_frame import _debug_get_cache_entry_list  # noqa: PLC0415 - takes seconds

    versions = _debug_get_cache_entry_list(function.__code__)
    asked = [_TENSOR.findall(str(version.guard_manager)) for version in versions]
    return tuple("; ".join(f"{name}: {dtype}, {size}" for name, dtype, size in each) for each in reversed(asked))
