"""Sessions, workers and requests that tests share. The processes of a shared session end when Python ends."""

import atexit
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from grader.isolation import sandbox
from grader.isolation.pool import Pool
from grader.isolation.seccomp import ARCHITECTURES, Rule
from grader.limits import Limits
from grader.session import Session
from grader.source import Source
from grader.trials import faults
from grader.trials.worker_client import WorkerClient, worker

_POOLS = Pool(sandboxed=False), Pool(sandboxed=True)
BARE, SAFE = (Session("a secret", pool) for pool in _POOLS)
for _pool in _POOLS:
    atexit.register(_pool.close)

FORKED = False
"""Whether `opened` forks each process tree from a template process. The fixture `each_start` sets it to both values."""


CHANNEL = """
import os, stat, struct
DESCRIPTOR = next(n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}")
                  and stat.S_ISSOCK(os.fstat(n).st_mode))
def say(payload):
    os.write(DESCRIPTOR, struct.pack("<I", len(payload)) + payload)
"""
"""Code with which a submission that knows this kit reaches the supervisor's channel."""


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


def warm(pool: Pool) -> Pool:
    """Start the trees of trusted code, unless they have started already, and return the pool."""
    for tensors in (False, True):
        with pool.trusted(tensors=tensors):
            pass  # this starts the tree, which stays in the pool
    return pool


def ask(one: WorkerClient, source: Source, argument: object = None) -> Any:
    """Load a source text, and return the result of its function `f`. Raise `WorkerFault` if it does not answer."""
    with faults.blame_submission("the file"):
        one.load(source)
    with faults.blame_submission("f"):
        return one.values("f", [{"value": argument}], lambda _name, _arguments: None, 1)["answer"]


def until(condition: Callable[[], bool]) -> bool:
    """Wait for at most a minute until the kernel has ended a killed tree. Return whether the condition holds."""
    for _ in range(6000):
        if condition():
            return True
        time.sleep(0.01)
    return False


def errors_of_denied_calls(session: Session, rules: Sequence[Rule]) -> tuple[dict[str, int], dict[str, int]]:
    """Make each call in a sandbox that a rule denies without a condition. Return the errors, and those of the rules."""
    numbers = ARCHITECTURES[platform.machine()].numbers
    expected = {
        name: rule.error for rule in rules if not rule.condition for name in rule.names.split() if name in numbers
    }
    source = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(number):
    ctypes.set_errno(0)
    libc.syscall(number, *[ctypes.c_long(0)] * 6)
    return ctypes.get_errno()
def f(x): return {{name: call(number) for name, number in { ({name: numbers[name] for name in expected}) }.items()}}
"""
    with opened(Limits(load_s=60, call_s=60), session, tensors=False) as one:
        return ask(one, source), expected
