"""A suite of benchmarks as data, in the words of PyTorch's instruction-count suite.

    from harness.suite import GroupedStmts, flatten, materialize

    add = GroupedStmts("z = x + y", "auto z = x + y;", setup, signature="f(x, y) -> z", compiled=True)
    materialize(flatten({"add": add}))

`harness.suite.api`, `.types`, `.utils` and `.definitions` have the names of the original, so that a file of definitions
needs its imports changed and nothing else. `harness.suite.runner.measure` runs them, and so does
`python -m harness.suite`.
"""

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

__all__ = [
    "AutoLabels",
    "AutogradMode",
    "GroupedBenchmark",
    "GroupedModules",
    "GroupedSetup",
    "GroupedStmts",
    "GroupedVariants",
    "RuntimeMode",
    "TimerArgs",
    "flatten",
    "iter_parsed_lines",
    "materialize",
    "parse_stmts",
]
