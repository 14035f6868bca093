import os
import signal
import sys

import pytest
from trees import bare

from grader.errors import WorkerFault
from grader.isolation import forkserver
from grader.limits import Limits
from grader.trials.worker_client import WorkerClient


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals that stop a process")
@pytest.mark.parametrize("asked_first", ["for a worker", "to end a worker"])
def test_a_tree_that_was_stopped_is_waited_for_once(monkeypatch: pytest.MonkeyPatch, asked_first: str) -> None:
    monkeypatch.setattr(forkserver, "_ANSWER_S", 0.3)
    waits: list[float | None] = []
    with bare() as session, session.pool.fresh(tensors=False) as tree:
        first, second = WorkerClient(tree, Limits()), WorkerClient(tree, Limits())
        os.kill(tree._pids[-1], signal.SIGSTOP)
        receive = tree._channel.receive

        def noted(timeout_s: float | None = None) -> tuple[bytes, dict[str, object]]:
            waits.append(timeout_s)
            return receive(timeout_s)

        monkeypatch.setattr(tree._channel, "receive", noted)
        if asked_first == "to end a worker":
            first.close()
        with pytest.raises(WorkerFault, match="broke the process from which its workers are started"):
            WorkerClient(tree, Limits())
        first.close()
        second.close()
    assert waits == [0.3]
