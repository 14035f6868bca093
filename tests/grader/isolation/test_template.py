"""Process trees that are forked from one template process: what they share, and what happens when a process ends."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
import trees
from trees import BARE, SAFE

from grader.errors import MachineError
from grader.isolation import sandbox
from grader.isolation.pool import Pool, TreeSource
from grader.isolation.template import ForkedTree
from grader.limits import Limits
from grader.session import Session
from grader.trials.worker_client import WorkerClient, worker

NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "uts")
LIMITS = Limits(load_s=60, call_s=60, memory_bytes=3 << 30)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@contextlib.contextmanager
def two_trees(pool: TreeSource = SAFE.pool) -> Iterator[tuple[WorkerClient, WorkerClient]]:
    """Yield the workers of two trees of one template process."""
    if pool.sandboxed and not sandbox.can_use_template(sandboxed=True):
        pytest.skip("no namespaces here")
    with pool.fresh(tensors=True) as one, pool.fresh(tensors=True) as other:
        assert one.forked
        assert other.forked
        with worker(one, LIMITS) as first, worker(other, LIMITS) as second:
            yield first, second


def ask(one: WorkerClient, body: str) -> Any:
    """Return the result of `f(x)`, whose indented body is given."""
    return trees.ask(one, f"import ctypes, os, socket, sys, time\ndef f(x):\n{body}")


def template_of(one: WorkerClient) -> psutil.Process:
    """Return the template process of a worker in the sandbox: the first child of bubblewrap's first process."""
    assert isinstance(one._server._process, ForkedTree)
    process = one._server._process._template._process
    assert process is not None
    (init,) = psutil.Process(process.popen.pid).children()
    return min(init.children(), key=lambda child: child.create_time())


@pytest.mark.anywhere
@pytest.mark.sandbox
def test_a_tree_neither_sees_nor_reaches_another() -> None:
    write = "  for d in ('/tmp', '/dev/shm'): open(d + '/mark', 'w').close()\n  return 1"
    look = """
  return [
    sorted(n for n in os.listdir('/proc') if n.isdigit()),
    [d for d in ('/tmp', '/dev/shm') if os.path.exists(d + '/mark')],
    [n for n in os.listdir('/dev/pts') if n.isdigit()],
  ]
"""
    with two_trees() as (one, other):
        assert ask(one, write) == 1
        assert ask(one, "  sys.pty = os.openpty(); return len(sys.pty)") == 2
        assert ask(other, look) == [["1", "2", "3"], [], []]
        pids = one._forked.pid, other._forked.pid, template_of(one).pid
        for name in NAMESPACES:
            assert len({Path(f"/proc/{pid}/ns/{name}").readlink() for pid in pids}) == len(pids), name


@pytest.mark.parametrize("session", [BARE, pytest.param(SAFE, marks=pytest.mark.sandbox)], ids=["bare", "sandbox"])
def test_two_trees_have_one_memory_layout_and_without_a_sandbox_a_home_of_their_own(session: Session) -> None:
    where = "  import torch; return [hex(id(os)), hex(id(torch.ones)), hash('a')]"
    with two_trees(session.pool) as (one, other):
        assert ask(one, where) == ask(other, where)
        homes = [Path(ask(each, "  return os.environ['HOME']")) for each in (one, other)]
        assert len(set(homes)) == (1 if session.pool.sandboxed else 2)
        assert session.pool.sandboxed or all(home.is_dir() for home in homes)
    assert session.pool.sandboxed or not any(home.exists() for home in homes)


def outer_processes(one: WorkerClient) -> dict[str, psutil.Process]:
    """Return the processes outside a tree in whose sandbox the tree runs."""
    template = template_of(one)
    return {"template process": template, "first process": template.parent(), "bubblewrap": template.parent().parent()}


def wait_in_a_call(one: WorkerClient) -> None:
    while True:
        ask(one, "  time.sleep(0.1)")


def fork_until_it_fails(one: WorkerClient) -> None:
    while True:
        with worker(one._server, LIMITS):
            pass


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("ended", "use"),
    [("template process", wait_in_a_call), ("first process", fork_until_it_fails), ("bubblewrap", wait_in_a_call)],
)
def test_no_submission_is_blamed_for_an_ended_template(ended: str, use: Callable[[WorkerClient], None]) -> None:
    with Pool() as pool, two_trees(pool) as (one, other):
        outer_processes(one)[ended].kill()
        with pytest.raises(MachineError, match="Grade again"):
            use(other)


@pytest.mark.parametrize("sandboxed", [False, pytest.param(True, marks=pytest.mark.sandbox)], ids=["bare", "sandbox"])
def test_nothing_is_left_of_a_pool_although_a_tree_was_lent_when_it_closed(sandboxed: bool) -> None:
    before = psutil.Process().num_fds()
    with Pool(sandboxed=sandboxed, spare=2) as pool, pool.fresh(tensors=True):
        template = pool._template
        assert template is not None
        pool.close()
        assert template.ends_within(0.0)
    assert psutil.Process().num_fds() == before
