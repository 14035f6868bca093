"""The code that runs on the workers of a Dask cluster: it checks the worker and grades submissions there.

A worker passes the check if its files and versions equal those of the machine that started the grading. It then gets
one unit of the Dask resource `LANE` per thread. Every grading takes one unit. A worker that fails the check gets no
unit, so it grades nothing.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from distributed import Status, WorkerPlugin, get_worker

from grader import catalogue
from grader.class_run import openssl_errors
from grader.errors import MachineError
from grader.grade import grade
from grader.isolation import sandbox
from grader.isolation.pool import Pool
from grader.paths import GRADER, KIT
from grader.records import Report, Submission
from harness.machine.environment import Environment

if TYPE_CHECKING:
    from distributed.worker import Worker

LANE: Final = "fairclock-lane"
"""The name of a Dask resource. Each grading takes one unit of this resource."""

NAME: Final = "fairclock"

KINDS: Final = frozenset({".py", ".json", ".c"})
"""Suffixes of the files in `grader` and `harness` on which a grade depends."""


@cache
def standard() -> dict[str, str]:
    """Return what must be equal on all machines that grade a class: versions, and one hash of all relevant files."""
    found = Environment.capture(ask_cuda=False)
    return {"kit": found.kit, "python": found.python, "torch": found.torch, "numpy": found.numpy, "files": _digest()}


def differences(mine: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    """Return as text how the files and versions of another machine differ from mine, or "" if they are equal."""
    told = [f"{name} {theirs[name]} instead of {one}" for name, one in mine.items() if one != theirs[name]]
    if told == [f"files {theirs['files']} instead of {mine['files']}"]:
        told = [f"different files in {GRADER.name} or harness of the same version {mine['kit']}"]
    return ", ".join(one for one in told if not one.startswith("files "))


class GradingPlugin(WorkerPlugin):
    """A plugin that Dask runs on each worker. It lets the worker grade if its files and versions are right."""

    name = NAME

    def __init__(self, standard: Mapping[str, str], hidden: Sequence[Path], *, sandboxed: bool) -> None:
        self.standard, self.hidden, self.sandboxed = standard, tuple(hidden), sandboxed
        self.refusal = ""
        self.lanes = 0
        self.pool: Pool | None = None

    async def setup(self, worker: "Worker") -> None:
        """Check this worker. If it passes the check, let it grade one submission per thread, else none."""
        openssl_errors.repair()
        self.refusal = self._trouble()
        if self.refusal:
            await worker.set_resources(**{LANE: 0})
            return
        self.pool = Pool(sandboxed=self.sandboxed, hidden=self.hidden, spare=worker.state.nthreads)
        # The scheduler assigns waiting calls when a worker's status becomes running, but not when its resources change.
        worker.status = Status.paused
        await worker.set_resources(**{LANE: worker.state.nthreads})
        worker.status = Status.running
        self.lanes = worker.state.nthreads

    def teardown(self, worker: "Worker") -> None:
        """End the processes that this worker has started for submissions."""
        del worker
        if self.pool:
            self.pool.close()

    def _trouble(self) -> str:
        if differs := differences(self.standard, standard()):
            return differs
        try:
            if self.sandboxed:
                sandbox.require()
        except MachineError as error:
            return str(error)
        return ""


def standing(dask_worker: "Worker") -> tuple[int, str]:
    """Return how many submissions this worker grades at a time, and if none, the reason. Dask passes `dask_worker`."""
    plugin = dask_worker.plugins.get(NAME)
    return (plugin.lanes, plugin.refusal) if isinstance(plugin, GradingPlugin) else (0, "the worker was not set up")


def grade_here(submission: Submission, seed: str) -> Report:
    """Grade one submission on the Dask worker that runs this function. `seed` is the secret seed of the class."""
    plugin = get_worker().plugins[NAME]
    assert isinstance(plugin, GradingPlugin)
    assert plugin.pool is not None
    return grade(submission, seed, plugin.pool, catalogue.load().tasks(submission.lesson))


def _digest() -> str:
    """Return one hash of all files in `grader` and `harness` on which a grade depends."""
    digest, found = hashlib.sha256(), (path for room in (GRADER, KIT / "harness") for path in room.rglob("*"))
    for path in sorted(path for path in found if path.suffix in KINDS):
        digest.update(f"{path.relative_to(KIT)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
