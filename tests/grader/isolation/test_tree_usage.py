"""The limits of a whole process tree: memory, and the number of processes and threads together."""

import pytest
from trees import BARE, SAFE, ask, opened

from grader.errors import NoisyMachineError, WorkerFault
from grader.isolation import proc, tree_users
from grader.limits import Limits
from grader.records import Status
from grader.session import Session

pytestmark = pytest.mark.usefixtures("each_start", "processes_allowed")
BOTH = pytest.mark.parametrize(
    "session", [BARE, pytest.param(SAFE, marks=pytest.mark.sandbox)], ids=["bare", "sandbox"]
)
FEW = 40

HOARD = """
import os, time
def hoard():
    kept = bytearray(60 << 20)
    time.sleep(60)
def f(x):
    for _ in range(4): os.fork() or hoard()
    time.sleep(60)
"""

BREED = """
import os, time
def f(x):
    for _ in range(200): os.fork() or time.sleep(60)
    time.sleep(60)
"""

SPIN_OFF = """
import threading, time
def f(x):
    for _ in range(200): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    time.sleep(60)
"""


def fault(source: str, session: Session, memory_bytes: int = 300 << 20) -> WorkerFault:
    """Return the fault with which a call of `f` ends."""
    try:
        with opened(Limits(20, 20, memory_bytes=memory_bytes), session, tensors=False) as one:
            ask(one, source)
    except WorkerFault as ended:
        return ended
    raise AssertionError("nothing stopped it")


def test_nobody_is_blamed_for_growing_kernel_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    found = iter([(0, False), (0, False), *[(2 * proc.KERNEL_BYTES, True)] * 1000])
    with BARE.pool.fresh(tensors=False) as tree:
        monkeypatch.setattr(proc, "kernel_memory", lambda: next(found))
        tree.start_task()
        tree.watch(Limits())
        tree._watched_s = 0.0
        with pytest.raises(NoisyMachineError, match="belongs to no process"):
            tree.watch(Limits())


@BOTH
def test_memory_of_many_processes_counts_together(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process stays within the limit, and all four together use twice the limit."""
    monkeypatch.setattr(proc, "SLACK_BYTES", 0)
    ended = fault(HOARD, session, memory_bytes=80 << 20)
    assert ended.status is Status.OUT_OF_MEMORY
    assert "memory together" in ended.rationale


@pytest.mark.parametrize("bomb", [BREED, SPIN_OFF], ids=["processes", "threads"])
def test_processes_and_threads_are_counted_from_outside(bomb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a sandbox and without control groups, only the supervisor limits them."""
    monkeypatch.setattr(proc, "MOST_TASKS", FEW)
    ended = fault(bomb, BARE, memory_bytes=4 << 30)
    assert ended.status is Status.CRASHED
    assert f"more than {FEW} threads and processes" in ended.rationale


@pytest.mark.sandbox
@pytest.mark.parametrize("bomb", [BREED, SPIN_OFF], ids=["fork bomb", "thread bomb"])
def test_the_kernel_refuses_a_bomb_unless_its_user_is_root(bomb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proc, "MOST_TASKS", FEW)
    ended = fault(bomb, SAFE, memory_bytes=4 << 30)
    refused = ended.status is Status.RAISED and ("unavailable" in ended.rationale or "new thread" in ended.rationale)
    own_user = tree_users.is_root() and not tree_users.trouble()
    counted = not own_user and ended.status is Status.CRASHED
    assert refused or counted, f"{ended.status}: {ended.rationale}"
