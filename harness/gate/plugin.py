"""The plug-in of pytest: its options, its marker and its fixture. Without them, it does nothing.

Every start of pytest loads this module. So it imports the modules of the gate only when they are needed.
"""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from harness.gate.in_one_tree import DuelFixture

_OPTIONS = (
    ("--duel", "BASE", "compare the benchmarks with this revision, tag, branch or .whl file, and run no other tests"),
    ("--duel-allow", "CHANGE", "the largest change of the cost that is not SLOWER, such as 3%% or 0.03 (default: 1%%)"),
    ("--duel-cost", "COST", "compare cpu or wall time, instructions or peak memory (default: cpu)"),
    ("--duel-limit", "SECONDS", "the time limit for one benchmark (default: 10, and more if less than 1%% is allowed)"),
    ("--duel-json", "FILE", "write the result with all rounds as JSON"),
    ("--duel-html", "FILE", "write the result as an HTML page"),
    ("--duel-asv", "DIR", "also compare the time_* benchmarks of asv in this folder"),
)
_FLAGS = (
    ("--duel-strict", "fail, too, if a verdict is UNDECIDED"),
    ("--duel-shadow", "only report: never fail because of a benchmark"),
)
_MARKER = (
    "duel(allow, limit_s): pytest --duel compares the cost of this test, with these values of --duel-allow and "
    "--duel-limit."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the gate."""
    group = parser.getgroup("duel", "compare benchmarks with another revision (fairclock)")
    for name, value, text in _OPTIONS:
        group.addoption(name, metavar=value, help=text)
    for name, text in _FLAGS:
        group.addoption(name, action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Add the marker. With `--duel`, add the hooks that measure instead of running tests."""
    config.addinivalue_line("markers", _MARKER)
    if config.getoption("duel") is None or hasattr(config, "workerinput"):  # the second one is a worker of xdist
        return
    from harness.gate.controller import Controller  # noqa: PLC0415 - most starts of pytest do not need it

    config.pluginmanager.register(Controller(config), "duel-controller")


@pytest.fixture
def duel(request: pytest.FixtureRequest) -> "DuelFixture":
    """Compare two ways in one source tree.

    For example, `assert duel("new(x)", "old(x)", setup="x = 1").not_slower(by=0.03)`.
    """
    from harness.gate.in_one_tree import DuelFixture  # noqa: PLC0415 - as above

    return DuelFixture(vars(request.module), strict=request.config.getoption("duel_strict"))
