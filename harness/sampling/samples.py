"""The samples of a sampling profiler: stacks of functions, in the order in which the profiler took them."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

Function = tuple[str, str]
"""A function in a sample: its name, and the file of its code. The file of a C function is a library, or ""."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of one thread. In its stack, the outermost function comes first."""

    thread: str
    stack: tuple[Function, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the functions in the stack, the outermost first."""
        return tuple(name for name, _ in self.stack)

    @property
    def in_c(self) -> bool:
        """Whether the function at the top of the stack is a C function."""
        return bool(self.stack) and not self.stack[-1][1].endswith((".py", ">"))


@dataclass(frozen=True, slots=True)
class Samples:
    """All samples of one recording."""

    taken: tuple[Sample, ...]

    def __len__(self) -> int:
        return len(self.taken)

    def with_function(self, name: str) -> int:
        """Return the number of samples whose stack contains the function `name`."""
        return sum(name in sample.names for sample in self.taken)

    def share(self, name: str) -> float:
        """Return the share of the samples whose stack contains the function `name`, or 0 without samples."""
        return self.with_function(name) / max(1, len(self))

    def on_top(self) -> Counter[str]:
        """Return how often each function was at the top of the stack."""
        return Counter(sample.names[-1] for sample in self.taken if sample.stack)

    def only(self, wanted: Callable[[Sample], bool]) -> "Samples":
        """Return the samples for which `wanted` is true."""
        return Samples(tuple(filter(wanted, self.taken)))

    def stacks(self) -> list[tuple[tuple[str, ...], float]]:
        """Return each different stack with its number of samples. A frame is "file: function", as in a flame graph."""
        counts = Counter(sample.stack for sample in self.taken)
        return [(tuple(map(_frame, stack)), float(count)) for stack, count in counts.items()]


def _frame(function: Function) -> str:
    name, file = function
    return f"{PurePath(file).name}: {name}" if file else name
