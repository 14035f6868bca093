"""Define a suite of benchmarks as data, with PyTorch's names, as `harness/README.md` describes."""

from harness.suite.api import (
    AutogradMode,
    AutoLabels,
    GroupedBenchmark,
    GroupedModules,
    GroupedSetup,
    GroupedStmts,
    GroupedVariants,
    RuntimeMode,
    TimerArgs,
)
from harness.suite.expand import materialize
from harness.suite.utils import flatten, iter_parsed_lines, parse_stmts
