"""The class of one benchmark, in the form that is sent to a worker, with a title and a key."""

from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from torch.utils.benchmark import Language

from harness.rendering import units
from harness.storage import disk_cache
from harness.suite.api import TimerArgs
from harness.suite.types import FlatDefinition, Label

LANGUAGES: Final = {Language.PYTHON: "Python", Language.CPP: "C++"}


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark of the suite. `runtime` and `autograd` are the values of its `AutoLabels` as text, or ""."""

    label: Label
    runtime: str
    autograd: str
    args: TimerArgs

    @property
    def is_cpp(self) -> bool:
        """Whether the benchmark is C++ code, which must be compiled."""
        return self.args.language is Language.CPP

    @property
    def title(self) -> str:
        """The name, kind and number of threads of the benchmark in one line. Each benchmark has a different title."""
        kinds = [self.runtime, self.autograd, LANGUAGES[self.args.language]]
        threads = [units.some(self.args.num_threads, "thread")] if self.args.num_threads != 1 else []
        return " · ".join([*self.label, *filter(None, kinds), *threads])

    @property
    def key(self) -> str:
        """A digest of the benchmark's name, kind and code, as text."""
        return disk_cache.digest({"label": self.label, "runtime": self.runtime, "autograd": self.autograd, **self.code})

    @property
    def code(self) -> dict[str, Any]:
        """The arguments of torch's `Timer` for this benchmark, as a dictionary for JSON."""
        return {**asdict(self.args), "language": LANGUAGES[self.args.language]}

    @classmethod
    def all_of(cls, flat: FlatDefinition) -> tuple[Self, ...]:
        """Return one benchmark for each item of a list that `materialize` returned."""
        return tuple(cls(label, kind.runtime.value, kind.autograd.value, args) for label, kind, args in flat)
