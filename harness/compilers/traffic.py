"""Record the operations that torch runs for a function, with the bytes that each operation reads and writes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


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
    """Records every operation that torch runs."""

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

    The numbers of bytes are the sizes of the tensors. They do not show whether the data come from main memory or from a
    cache.
    """
    with _Recorder() as recorder:
        function(*arguments)
    return tuple(recorder.operations)
