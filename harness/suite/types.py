"""Nested benchmarks: `{"Pointwise": {"add": {None: GroupedStmts(…), "with alpha": GroupedStmts(…)}}}`.

A name is a text, a tuple of texts (`("Pointwise", "Math")`), or None, which adds no part to the name.
"""

from collections.abc import Mapping
from typing import Any, Union

from harness.suite.api import AutoLabels, GroupedBenchmark, TimerArgs

Label = tuple[str, ...]
"""The complete name of a benchmark: the parts from all levels."""

Definition = Mapping[Any, Union[TimerArgs, GroupedBenchmark, "Definition"]]
"""Benchmarks by nested names of type `Label`, `str` or None. (The keys have the type `Any`, because `Mapping` is
invariant in its keys.)"""

FlatIntermediateDefinition = Mapping[Label, TimerArgs | GroupedBenchmark]
"""Grouped benchmarks by complete name: the result of `harness.suite.utils.flatten`."""

FlatDefinition = tuple[tuple[Label, AutoLabels, TimerArgs], ...]
"""The list of all benchmarks: the result of `harness.suite.expand.materialize`."""
