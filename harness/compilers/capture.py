"""Inspect the graphs and guards of `torch.compile` for a function, and the errors of `torch.export`."""

import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from typing import Any, Final

from harness.compilers.torchscript import torchscript_warnings_hidden

_TENSOR: Final = re.compile(r"TENSOR_MATCH: check_tensor\((L\['\w+'\]).*?(torch\.\w+), .*?(size=\[[^\]]*\])")


@dataclass(frozen=True, slots=True)
class Captured:
    """The graphs that torch captured: their number, their number of operations, and the reasons of graph breaks.

    `lines` contains the line of source code of each graph break, without its indentation.
    """

    graphs: int
    operations: int
    breaks: tuple[str, ...]
    lines: tuple[str, ...] = ()


def captured(function: Callable[..., object], *inputs: object) -> Captured:
    """Return information on the graphs that torch captures for a call with these inputs. Do not compile them.

    This discards the code that torch has compiled before. torch compiles those functions again at their next call.
    """
    with torchscript_warnings_hidden():
        import torch._dynamo  # noqa: PLC0415 - takes seconds

        found = torch._dynamo.explain(function)(*inputs)  # noqa: SLF001
    reasons = [each for each in found.break_reasons if each.user_stack]
    return Captured(
        found.graph_count,
        found.op_count,
        tuple(str(each.reason) for each in reasons),
        tuple(str(each.user_stack[-1].line or "").strip() for each in reasons),
    )


def guards_of(function: Callable[..., object]) -> tuple[str, ...]:
    """Return one text per compiled version of a function: the conditions (guards) on tensors for using it.

    The oldest version comes first. `function` is the original function, not the result of `torch.compile`. Other kinds
    of guards are left out.
    """
    from torch._dynamo.eval_frame import _debug_get_cache_entry_list  # noqa: PLC0415 - takes seconds

    versions = _debug_get_cache_entry_list(function.__code__)
    guards = [_TENSOR.findall(str(version.guard_manager)) for version in versions]
    return tuple("; ".join(f"{name}: {dtype}, {size}" for name, dtype, size in each) for each in reversed(guards))


def refusal(call: Callable[[], object]) -> str:
    """Return the first line of torch's error for a call, or "" if the call succeeds.

    torch also logs each error, and prints an incomplete graph to standard error. This output is hidden.
    """
    with _logs_off(), redirect_stderr(io.StringIO()):
        try:
            call()
        except (RuntimeError, AssertionError) as refused:
            return next((line.strip() for line in str(refused).splitlines() if line.strip()), type(refused).__name__)
    return ""


def verdict(way: Callable[[Any], Any], function: Callable[..., Any], *inputs: object) -> str:
    """Return whether a function that was captured in some way returns the same tensor: "right", "wrong" or "refused".

    `way(function)` returns the captured function. The function is refused if this call, or the call of the captured
    function, raises an exception. Logs and warnings are hidden.
    """
    import torch  # noqa: PLC0415 - takes seconds

    with _logs_off(), redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = way(function)(*inputs)
        except Exception:  # noqa: BLE001 - TorchScript, torch.compile and torch.export raise many types
            return "refused"
    return "right" if torch.equal(found, function(*inputs)) else "wrong"


@contextmanager
def _logs_off() -> Iterator[None]:
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
