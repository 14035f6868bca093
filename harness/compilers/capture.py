"""What torch captures of a function: graphs and guards of `torch.compile`, and what `torch.export` says in refusal."""

import io
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
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


def refusal(call: Callable[[], object]) -> str:
    """Make a call, and return the first line of what torch says where it refuses; "" where it does not.

    torch also logs each refusal and prints half a graph to standard error: neither is shown.
    """
    with _logs_off(), redirect_stderr(io.StringIO()):
        try:
            call()
        except (RuntimeError, AssertionError) as refused:
            return next((line.strip() for line in str(refused).splitlines() if line.strip()), type(refused).__name__)
    return ""


@contextmanager
def _logs_off() -> Iterator[None]:
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
