"""Workers opened by hand, as a pool opens them."""

from collections.abc import Iterator
from contextlib import contextmanager

from grader.isolation.pool import Pool
from grader.settings import Settings
from grader.task import Limits
from grader.trials.supervisor import Worker, worker


@contextmanager
def opened(limits: Limits, settings: Settings, *, tensors: bool) -> Iterator[Worker]:
    """The only worker of a tree of its own."""
    with settings.pool.fresh(tensors=tensors) as tree, worker(tree, limits) as one:
        yield one


@contextmanager
def bare() -> Iterator[Settings]:
    """Settings without a sandbox, whose trees are ended afterwards."""
    with Pool(sandboxed=False) as pool:
        yield Settings("a secret", pool)
