"""Expand grouped definitions to a list of benchmarks, without running one."""

from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, Final, Self

from torch.utils.benchmark import Language

from harness.rendering import units
from harness.storage import disk_cache
from harness.suite import models
from harness.suite.api import AutogradMode, AutoLabels, GroupedBenchmark, RuntimeMode, TimerArgs
from harness.suite.types import FlatDefinition, FlatIntermediateDefinition, Label

LANGUAGES: Final = {Language.PYTHON: "Python", Language.CPP: "C++"}
WARM_UPS: Final = 3  # calls of compiled code before a measurement


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
        """The `TimerArgs` as a dictionary for JSON."""
        return {**asdict(self.args), "language": LANGUAGES[self.args.language]}

    @classmethod
    def all_of(cls, flat: FlatDefinition) -> tuple[Self, ...]:
        """Return the benchmarks of a list from `materialize`."""
        return tuple(cls(label, kind.runtime.value, kind.autograd.value, args) for label, kind, args in flat)


def materialize(benchmarks: FlatIntermediateDefinition) -> FlatDefinition:
    """Return the list of all benchmarks, each with its label, its kind, and the arguments of `Timer`.

    The benchmarks of a definition are sorted by runtime, then by forward and backward, then by Python and C++.
    """
    flat: list[tuple[Label, AutoLabels, TimerArgs]] = []
    for label, group in benchmarks.items():
        if isinstance(group, TimerArgs):
            flat.append((label, AutoLabels(RuntimeMode.EXPLICIT, AutogradMode.EXPLICIT, group.language), group))
            continue
        forms = {RuntimeMode.EAGER: _eager}
        forms |= {RuntimeMode.COMPILED: _compiled} if group.compiled else {}
        autograds = (AutogradMode.FORWARD, AutogradMode.FORWARD_BACKWARD)[: 1 + group.autograd]
        for runtime, autograd, language in product(forms, autograds, LANGUAGES):
            backward = autograd is AutogradMode.FORWARD_BACKWARD
            if args := forms[runtime](group, language, backward):
                kind = AutoLabels(runtime, autograd, language)
                flat += [(label, kind, replace(args, num_threads=number)) for number in group.num_threads]
    return tuple(flat)


def _eager(group: GroupedBenchmark, language: Language, backward: bool) -> TimerArgs | None:
    setup, is_cpp = group.setup, language is Language.CPP
    stmt = group.cpp_fwd_stmt if is_cpp else group.py_fwd_stmt
    if stmt is None:
        return None
    code = (setup.cpp_setup, group.cpp_model_setup) if is_cpp else (setup.py_setup, group.py_model_setup)
    args = TimerArgs(stmt, "\n".join(each or "" for each in code).strip("\n"), language=language)
    if backward:
        args = replace(args, stmt=f"{stmt}\n{group.output}.backward(){';' if is_cpp else ''}")
    return replace(args, global_setup=setup.global_setup) if is_cpp else args


def _compiled(group: GroupedBenchmark, language: Language, backward: bool) -> TimerArgs | None:
    if language is Language.CPP or group.signature is None:
        return None
    stmt = group.signature.call(models.COMPILED, language)
    if backward:
        stmt = f"{stmt}\n{group.output}.backward()"
    setup = "\n".join([group.setup.py_setup, *[stmt] * WARM_UPS])
    return TimerArgs(stmt, setup.strip("\n"), compiled=group.source or "")
