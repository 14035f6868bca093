"""Define a suite of benchmarks as data, with the same names as in PyTorch's instruction-count suite.

    from harness.suite import GroupedStmts, flatten, materialize

    add = GroupedStmts("z = x + y", "auto z = x + y;", setup, signature="f(x, y) -> z", compiled=True)
    materialize(flatten({"add": add}))

`harness.suite.api`, `.types` and `.utils` use PyTorch's names. So a file of definitions that was written for PyTorch's
suite needs only changed imports. `harness.suite.runner.measure` and `python -m harness.suite` run the benchmarks.
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
