import logging
from collections.abc import Callable

import pytest
import torch

from harness.compilers import Recompilation, torchscript_warnings_hidden, unsupported, watch_recompilations
from harness.compilers.recompilations import parsed

pytestmark = pytest.mark.skipif(bool(unsupported()), reason=unsupported())

MESSAGE = """Recompiling function step in /app/train.py:10
    triggered by the following guard failure(s):
    - 0/9: tensor 'x' size mismatch at index 0. expected 8, actual 9
    - 0/10: n == 1                     # return x * n  # /app/train.py:11 in step
    - User stack trace:
    -   File "/app/train.py", line 11, in step
    - 0/2: GLOBAL_STATE changed: grad_mode """


def scaled(x: torch.Tensor, n: int) -> torch.Tensor:
    return x * n


@pytest.fixture
def compiled() -> Callable[..., torch.Tensor]:
    torch.compiler.reset()
    with torchscript_warnings_hidden():
        found: Callable[..., torch.Tensor] = torch.compile(scaled, backend="eager", dynamic=False)
    return found


def test_a_message_names_the_guard_of_each_graph_and_the_newest_one() -> None:
    found = parsed(MESSAGE)
    assert found == Recompilation(
        "step",
        {
            9: "tensor 'x' size mismatch at index 0. expected 8, actual 9",
            10: "n == 1",
            2: "GLOBAL_STATE changed: grad_mode",
        },
    )
    assert found.reason == "n == 1"
    assert Recompilation("step", {}).reason == ""
    assert parsed("Graph break in user code at /app/train.py:15") is None


def test_recompilations_are_recorded_in_order_and_not_printed(
    compiled: Callable[..., torch.Tensor], capfd: pytest.CaptureFixture[str]
) -> None:
    x = torch.ones(8)
    with watch_recompilations() as watched:
        compiled(x, 1)
        assert watched.recompilations == []
        compiled(x + 1, 1)
        compiled(torch.ones(9), 1)
        compiled(torch.ones(9), 2)
    assert [each.function for each in watched.recompilations] == ["scaled"] * 2
    assert [each.reason.split(".")[0] for each in watched.recompilations] == [
        "tensor 'x' size mismatch at index 0",
        "n == 1",
    ]
    assert capfd.readouterr() == ("", "")


def test_the_warning_of_the_limit_is_recorded_and_afterwards_the_loggers_are_as_before(
    compiled: Callable[..., torch.Tensor], capfd: pytest.CaptureFixture[str]
) -> None:
    logger, state = logging.getLogger("torch._dynamo.guards.__recompiles"), torch._logging._internal.log_state
    before = (logger.level, logger.propagate, list(logger.handlers), "recompiles" in state.artifact_names)
    with watch_recompilations() as watched:
        for size in range(2, 14):
            compiled(torch.ones(size), 1)
    assert watched.limits[0].endswith(f"({torch._dynamo.config.recompile_limit})")
    assert capfd.readouterr() == ("", "")
    assert before == (logger.level, logger.propagate, logger.handlers, "recompiles" in state.artifact_names)
