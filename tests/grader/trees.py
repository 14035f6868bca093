"""Sessions and workers that tests share. The processes of a shared session end when Python ends."""

import atexit
from collections.abc import Iterator
from contextlib import contextmanager

from grader.isolation import sandbox
from grader.isolation.pool import Pool
from grader.limits import Limits
from grader.session import Session
from grader.trials.worker_client import WorkerClient, worker

_POOLS = Pool(sandboxed=False), Pool(sandboxed=True)
BARE, SAFE = (Session("a secret", pool) for pool in _POOLS)
for _pool in _POOLS:
    atexit.register(_pool.close)

FORKED = False
"""Whether `opened` forks each process tree from a template process. The fixture `each_start` sets it to both values."""


@contextmanager
def opened(limits: Limits, session: Session, *, tensors: bool) -> Iterator[WorkerClient]:
    """Return the only worker of a new process tree."""
    with session.pool.fresh(tensors=tensors or FORKED) as tree, worker(tree, limits) as one:
        assert not FORKED or tree.forked or not sandbox.can_use_template(sandboxed=session.pool.sandboxed)
        yield one


@contextmanager
def bare() -> Iterator[Session]:
    """Yield a session without a sandbox. Its process trees are ended afterwards."""
    with Pool(sandboxed=False) as pool:
        yield Session("a secret", pool)
