"""Inspect what torch captures and runs for a function: graphs, guards, recompilations, and operations."""

import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from typing import Any, Final, Self

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from harness.compilers.inductor import torchscript_warnings_hidden
from harness.timeable import first_result

_TENSOR: Final = re.compile(r"TENSOR_MATCH: check_tensor\((L\['\w+'\]).*?(torch\.\w+), .*?(size=\[[^\]]*\])")
_HEAD: Final = re.compile(r"Recompiling function (\S+) in ")
_FAILURE: Final = re.compile(r"^\s*- \d+/(\d+): (.*)", re.MULTILINE)
_COMMENT: Final = re.compile(r"\s+# .*")
_LIMIT: Final = re.compile(r"hit config\.\w+ \(\d+\)")

# The loggers of the messages about recompilations, and of the warning that a function has too many graphs.
_LOGGERS: Final = ("torch._dynamo.guards.__recompiles", "torch._dynamo.convert_frame")


@dataclass(frozen=True, slots=True)
class Captured:
    """The number of graphs that torch captured and of their operations. The reasons and code lines of graph breaks."""

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
    """Return one text per compiled version of a function, the oldest first: its conditions (guards) on tensors.

    `function` is the original function, not the result of `torch.compile`.
    """
    from torch._dynamo.eval_frame import _debug_get_cache_entry_list  # noqa: PLC0415 - takes seconds

    versions = _debug_get_cache_entry_list(function.__code__)
    guards = [_TENSOR.findall(str(version.guard_manager)) for version in versions]
    return tuple("; ".join(f"{name}: {dtype}, {size}" for name, dtype, size in each) for each in reversed(guards))


def refusal(call: Callable[[], object]) -> str:
    """Return the first line of torch's error for a call, or "" if the call succeeds. Logs and output are hidden."""
    with _silence():
        try:
            call()
        except (RuntimeError, AssertionError) as refused:
            return next((line.strip() for line in str(refused).splitlines() if line.strip()), type(refused).__name__)
    return ""


def verdict(way: Callable[[Any], Any], function: Callable[..., Any], *inputs: object) -> str:
    """Return whether `way(function)` returns the same tensor: "right", "wrong", or "refused" by an exception.

    Logs and warnings are hidden.
    """
    with _silence():
        try:
            found = way(function)(*inputs)
        except Exception:  # noqa: BLE001 - TorchScript, torch.compile and torch.export raise many types
            return "refused"
    return "right" if torch.equal(found, function(*inputs)) else "wrong"


@contextmanager
def _silence() -> Iterator[None]:
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with redirect_stderr(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@dataclass(frozen=True, slots=True)
class OperationTraffic:
    """An operation that torch ran: its name, and the sizes in bytes of its input tensors and of its output tensor."""

    name: str
    read_bytes: int
    written_bytes: int

    @property
    def moved_bytes(self) -> int:
        """The number of bytes that the operation reads or writes."""
        return self.read_bytes + self.written_bytes


class _Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations: list[OperationTraffic] = []

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[object] = (), kwargs: Mapping[str, object] | None = None
    ) -> object:
        del types  # required by torch, not used here
        result = func(*args, **(kwargs or {}))
        read = sum(each.nbytes for each in args if isinstance(each, Tensor))
        self.operations.append(OperationTraffic(str(func), read, result.nbytes if isinstance(result, Tensor) else 0))
        return result


def traffic(function: Callable[..., object], *arguments: object) -> tuple[OperationTraffic, ...]:
    """Call a function, and return the operations that torch ran, in order.

    The sizes of the tensors do not show whether the data come from main memory or from a cache.
    """
    with _Recorder() as recorder:
        first_result(function, *arguments)
    return tuple(recorder.operations)


@dataclass(frozen=True, slots=True)
class Recompilation:
    """A recompilation: the name of the function, and the failed guard of each earlier graph by the graph's number."""

    function: str
    reasons: dict[int, str]

    @classmethod
    def parse(cls, message: str) -> Self | None:
        """Return the recompilation that a message of torch describes, or None for other messages."""
        head = _HEAD.search(message)
        failures = {int(number): _COMMENT.sub("", reason).strip() for number, reason in _FAILURE.findall(message)}
        return cls(head[1], failures) if head else None


class WatchedRecompilations(logging.Handler):
    """The recompilations during a `with` block, in order, and torch's warnings that a function has too many graphs."""

    def __init__(self) -> None:
        super().__init__()
        self.recompilations: list[Recompilation] = []
        self.limits: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message that describes a recompilation, or that names a limit."""
        if found := Recompilation.parse(record.getMessage()):
            self.recompilations.append(found)
        self.limits += _LIMIT.findall(record.getMessage())


@contextmanager
def watch_recompilations() -> Iterator[WatchedRecompilations]:
    """Record the recompilations during a `with` block. Their messages and warnings are not printed."""
    with torchscript_warnings_hidden():
        import torch._dynamo  # noqa: PLC0415 - takes seconds

    state = torch._logging._internal.log_state  # noqa: SLF001
    was_enabled = "recompiles" in state.artifact_names
    state.artifact_names.add("recompiles")
    watched = WatchedRecompilations()
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [(each.level, each.propagate, each.handlers) for each in loggers]
    for each in loggers:
        each.propagate, each.handlers = False, [watched]
        each.setLevel(logging.DEBUG if each is loggers[0] else logging.WARNING)
    try:
        yield watched
    finally:
        for each, (level, propagate, handlers) in zip(loggers, before, strict=True):
            each.propagate, each.handlers = propagate, handlers
            each.setLevel(level)
        if not was_enabled:
            state.artifact_names.discard("recompiles")
