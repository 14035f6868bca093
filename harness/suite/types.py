"""What a file of definitions holds: benchmarks under names, nested as deep as you like, or flat.

    {"Pointwise": {"add": {None: GroupedStmts(…), "with alpha": GroupedStmts(…)}, "mul": GroupedStmts(…)}}

A name is a text, several of them (`("Pointwise", "Math")`), or None for what needs no further name.
"""

from collections.abc import Mapping
from typing import Any, Union

from harness.suite.api import AutoLabels, GroupedBenchmark, TimerArgs

Label = tuple[str, ...]
"""A benchmark's whole name."""

Definition = Mapping[Any, Union[TimerArgs, GroupedBenchmark, "Definition"]]
"""Benchmarks under nested names: `Label`, `str` or None. (A mapping is invariant in its keys, hence `Any`.)"""

FlatIntermediateDefinition = Mapping[Label, TimerArgs | GroupedBenchmark]
"""Benchmarks under whole names, each still a group: what `harness.suite.utils.flatten` makes."""

FlatDefinition = tuple[tuple[Label, AutoLabels, TimerArgs], ...]
"""Every benchmark by itself: what `harness.suite.expand.materialize` makes."""
