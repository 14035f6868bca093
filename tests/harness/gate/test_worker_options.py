"""Which arguments of the user's pytest the workers get, too."""

import pytest

from harness.gate.worker_options import passed_on


@pytest.mark.parametrize(
    "arguments",
    [
        ["-p", "my_plugin"],
        ["--size", "3"],
        ["--size=3"],
        ["-W", "error"],
        ["-o", "asyncio_mode=auto"],
        ["--confcutdir", "tests"],
        ["--count", "2"],
    ],
)
def test_options_of_the_project_are_passed_on(arguments: list[str]) -> None:
    assert passed_on(["bench", *arguments, "-q", "--duel", "main"], ["bench"]) == arguments


@pytest.mark.parametrize(
    "arguments",
    [
        ["--duel", "main"],
        ["--duel-json=out.json"],
        ["-n", "2"],
        ["-n2"],
        ["-k", "parse and not slow"],
        ["-xvv"],
        ["--cov", "package"],
        ["--junit-xml=out.xml"],
        ["--co"],
    ],
)
def test_options_that_select_report_or_disturb_are_left_out(arguments: list[str]) -> None:
    assert passed_on(["--size", "3", *arguments, "bench"], ["bench"]) == ["--size", "3"]
