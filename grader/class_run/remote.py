"""What runs on a cluster's workers: the check that a worker grades as this kit does, its lanes, and one grading.

A worker that passes the check gets as many units of the Dask resource `LANE` as it has lanes, and every grading takes
one: a worker that fails gets none, and so no work. It keeps its process trees in a pool, as a run on one machine does.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from distributed import Status, WorkerPlugin, get_worker

from grader.catalogue import GRADER, KIT
from grader.errors import MachineError
from grader.grade import grade
from grader.isolation import sandbox
from grader.isolation.pool import Pool
from grader.records import Report, Submission
from harness.environment import Environment

if TYPE_CHECKING:
    from distributed.worker import Worker

LANE: Final = "fairclock-lane"
"""The Dask resource of which a grading takes one."""

NAME: Final = "fairclock"

KINDS: Final = frozenset({".py", ".json", ".c"})
"""What the files of grader and harness are on which a grade depends."""


@dataclass(frozen=True, slots=True)
class Standard:
    """What must be the same wherever a class is graded: every file of grader and harness, and what they run on."""

    kit: str
    sources: str
    python: str
    torch: str
    numpy: str

    @classmethod
    @cache
    def here(cls) -> "Standard":
        """The standard of this machine."""
        found = Environment.capture(ask_cuda=False)
        return cls(found.kit, _digest(), found.python, found.torch, found.numpy)

    def differences(self, other: "Standard") -> str:
        """What differs, in words; empty when nothing does."""
        told = [
            f"{name} {theirs} instead of {mine}"
            for name in ("kit", "python", "torch", "numpy")
            if (mine := getattr(self, name)) != (theirs := getattr(other, name))
        ]
        if not told and self.sources != other.sources:
            told = [f"other files in {GRADER.name} or harness, of the same version {self.kit}"]
        return ", ".join(told)


class Post(WorkerPlugin):
    """Sets a worker up, whether it is there already or joins later."""

    name = NAME

    def __init__(self, standard: Standard, hidden: Sequence[Path], *, sandboxed: bool) -> None:
        self.standard, self.hidden, self.sandboxed = standard, tuple(hidden), sandboxed
        self.refusal = ""
        self.pool: Pool | None = None

    async def setup(self, worker: "Worker") -> None:
        """Check this machine, and give the worker its lanes."""
        self.refusal = self._trouble()
        if self.refusal:
            await worker.set_resources(**{LANE: 0})
            return
        self.pool = Pool(sandboxed=self.sandboxed, hidden=self.hidden, spare=worker.state.nthreads)
        # A scheduler looks for work that waits when a worker begins to run, and not when it gets resources.
        worker.status = Status.paused
        await worker.set_resources(**{LANE: worker.state.nthreads})
        worker.status = Status.running

    def teardown(self, worker: "Worker") -> None:
        """End what the pool has started."""
        del worker
        if self.pool:
            self.pool.close()

    def _trouble(self) -> str:
        if differs := self.standard.differences(Standard.here()):
            return differs
        try:
            if self.sandboxed:
                sandbox.require()
        except MachineError as error:
            return str(error)
        return ""


def refusal(dask_worker: "Worker") -> str:
    """Why this worker grades nothing; empty when it does. The library fills in `dask_worker`."""
    post = dask_worker.plugins.get(NAME)
    return post.refusal if isinstance(post, Post) else "it was not set up"


def grade_here(submission: Submission, seed: str) -> Report:
    """Grade one hand-in in the pool of the worker that this runs on."""
    post = get_worker().plugins[NAME]
    assert isinstance(post, Post)
    assert post.pool is not None
    return grade(submission, seed, post.pool)


def _digest() -> str:
    """One hash of every file that grades or measures: Python, and the data of tasks."""
    digest, found = hashlib.sha256(), (path for room in (GRADER, KIT / "harness") for path in room.rglob("*"))
    for path in sorted(path for path in found if path.suffix in KINDS):
        digest.update(f"{path.relative_to(KIT)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
