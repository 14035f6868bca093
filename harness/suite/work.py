"""One benchmark as it is handed to a worker, and what names it."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Self

from torch.utils.benchmark import Language

from harness import disk_cache, units
from harness.suite.api import TimerArgs
from harness.suite.types import FlatDefinition, Label

LANGUAGES: Final = {Language.PYTHON: "Python", Language.CPP: "C++"}


@dataclass(frozen=True, slots=True)
class Work:
    """A benchmark by itself. `runtime` and `autograd` are the texts of its `AutoLabels`, empty where it has none."""

    label: Label
    runtime: str
    autograd: str
    args: TimerArgs

    @property
    def is_cpp(self) -> bool:
        """Whether it has to be compiled."""
        return self.args.language is Language.CPP

    @property
    def title(self) -> str:
        """Everything that tells it from the others, in one line."""
        kinds = [self.runtime, self.autograd, LANGUAGES[self.args.language]]
        threads = [units.some(self.args.num_threads, "thread")] if self.args.num_threads != 1 else []
        return " · ".join([*self.label, *filter(None, kinds), *threads])

    @property
    def key(self) -> str:
        """A digest of the benchmark: its name, its kind and its code."""
        return disk_cache.digest({"label": self.label, "runtime": self.runtime, "autograd": self.autograd, **self.code})

    @property
    def code(self) -> dict[str, Any]:
        """What is run, as plain values."""
        return {**asdict(self.args), "language": LANGUAGES[self.args.language]}

    @classmethod
    def all_of(cls, flat: FlatDefinition) -> tuple[Self, ...]:
        """One for each benchmark of a flat definition."""
        return tuple(cls(label, kind.runtime.value, kind.autograd.value, _tidied(args)) for label, kind, args in flat)


def _tidied(args: TimerArgs) -> TimerArgs:
    """Timer's default setup is a Python word that C++ does not know."""
    return replace(args, setup="") if args.language is Language.CPP and args.setup == "pass" else args
