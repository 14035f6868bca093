"""Nested benchmarks: `{"Pointwise": {"add": {None: GroupedStmts(…), "with alpha": GroupedStmts(…)}}}`.

A name is a text, a tuple of texts (`("Pointwise", "Math")`), or None, which adds no part to the name.
"""

from collections.abc import Mapping
from typing import Any, Union

from harness.suite.api import AutoLabels, GroupedBenchmark, TimerArgs

Label = tuple[str, ...]  # the parts of a name from all levels
Definition = Mapping[Any, Union[TimerArgs, GroupedBenchmark, "Definition"]]  # `Mapping` is invariant in its keys
FlatIntermediateDefinition = Mapping[Label, TimerArgs | GroupedBenchmark]
FlatDefinition = tuple[tuple[Label, AutoLabels, TimerArgs], ...]
