"""Which operations torch runs for a function, and the bytes that each of them reads and writes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


@dataclass(frozen=True, slots=True)
class Pass:
    """One operation: its name, and the bytes of the tensors that it was given and that it gave."""

    name: str
    read_bytes: int
    written_bytes: int

    @property
    def moved_bytes(self) -> int:
        """Bytes read and written."""
        return self.read_bytes + self.written_bytes


class _Watch(TorchDispatchMode):
    """Sees every operation on its way to the code that does it."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.passes: list[Pass] = []

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[object] = (), kwargs: Mapping[str, object] | None = None
    ) -> object:
        del types  # part of the call, and no concern of ours
        made = func(*args, **(kwargs or {}))
        read = sum(each.nbytes for each in args if isinstance(each, Tensor))
        self.passes.append(Pass(str(func), read, made.nbytes if isinstance(made, Tensor) else 0))
        return made


def traffic(function: Callable[..., object], *arguments: object) -> tuple[Pass, ...]:
    """Call a function and return the operations that torch ran, in their order.

    Bytes are those of whole tensors, whether they come from memory or from a cache.
    """
    with _Watch() as watch:
        function(*arguments)
    return tuple(watch.passes)
