"""Start sandboxed Python processes before they are needed, so that no grading waits for the import of torch.

The processes for a submission have run no other code, and end after the submission. The processes for trusted code are
used again, because trusted code does not damage them. Processes with torch are forked from one template process if this
machine allows it (`sandbox.can_use_template`). Otherwise each of them imports torch.
"""

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Final, Self

from grader.errors import MachineError, WorkerFault
from grader.isolation import sandbox
from grader.isolation.forkserver import ForkServer
from grader.isolation.template import TemplateProcess
from grader.limits import HandInTime
from grader.records import Status

FUNCTION_FAULTS: Final = frozenset({Status.WRONG, Status.RAISED, Status.REFUSED})
"""The results of a task after which the submission's processes can still run the next task."""

MOST_FAILURES: Final = 2
"""After this number of process trees that could not be forked, each new tree imports torch itself."""


class Pool:
    """Starts process trees, keeps `spare` of them ready with torch, and ends them. Threads may share a pool."""

    remarks: tuple[str, ...] = ()

    def __init__(self, *, sandboxed: bool = True, hidden: Sequence[Path] = (), spare: int = 0) -> None:
        self.sandboxed = sandboxed
        self.hidden: Sequence[Path] = tuple(hidden)
        self._spare = spare
        self._ready: deque[ForkServer] = deque()
        self._trusted: dict[bool, list[ForkServer]] = {True: [], False: []}
        self._closed = False
        self._template: TemplateProcess | None = None
        self._failures = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def warm(self, trees: int) -> None:
        """Start processes with torch until `trees` of them are ready or starting. Return without waiting for them."""
        with self._lock:
            while len(self._ready) < trees:
                self._ready.append(self._start(tensors=True))

    @contextmanager
    def fresh(self, *, tensors: bool) -> Iterator[ForkServer]:
        """Yield a new process tree for one submission, and end it after the `with` block.

        If the block raises `WorkerFault`, the output of the processes is added to this exception.
        """
        with self.one_hand_in(tensors=tensors) as trees, trees.fresh(tensors=tensors) as tree:
            yield tree

    @contextmanager
    def trusted(self, *, tensors: bool) -> Iterator[ForkServer]:
        """Yield a process tree for trusted code. It is used again later, even after a `WorkerFault`."""
        with self._lock:
            idle = self._trusted[tensors]
            tree = idle.pop() if idle else None
        tree = tree or self.take(tensors=tensors)
        kept = False
        try:
            tree.start_task()
            yield tree
            kept = True
        except WorkerFault:
            kept = True
            raise
        finally:
            with self._lock:
                kept = kept and not self._closed
                if kept:
                    idle.append(tree)
            if not kept:
                tree.close()

    @contextmanager
    def one_hand_in(self, *, tensors: bool) -> Iterator["HandInTrees"]:
        """Yield an object that lends one process tree to all tasks of a file. With `tensors`, it has imported torch."""
        with closing(HandInTrees(self, tensors=tensors)) as trees:
            yield trees

    def take(self, *, tensors: bool) -> ForkServer:
        """Return a process tree that is ready to run workers. The caller ends it."""
        with self._lock:
            tree = self._ready.popleft() if tensors and self._ready else self._start(tensors=tensors)
        if tensors:
            self.warm(self._spare)
        try:
            tree.wait_until_ready()
        except MachineError:
            if not tree.forked:
                raise
            self._failures += 1
            tree = ForkServer(tensors=True, sandboxed=self.sandboxed, hidden=self.hidden)
            tree.wait_until_ready()
        return tree

    def close(self) -> None:
        """End all processes of the pool that are not in use."""
        with self._lock:
            self._closed = True
            trees = [*self._ready, *self._trusted[True], *self._trusted[False]]
            self._ready.clear()
            self._trusted = {True: [], False: []}
            template, self._template = self._template, None
        for tree in trees:
            tree.close()
        if template:
            template.close()

    def _start(self, *, tensors: bool) -> ForkServer:
        template = None
        fails = self._closed or self._failures >= MOST_FAILURES
        if tensors and not fails and sandbox.can_use_template(sandboxed=self.sandboxed):
            if self._template and self._template.ends_within(0.0):
                self._template.close()
                self._template = None
            template = self._template = self._template or TemplateProcess(sandboxed=self.sandboxed, hidden=self.hidden)
        return ForkServer(tensors=tensors, sandboxed=self.sandboxed, hidden=self.hidden, template=template)


class HandInTrees:
    """Lends one process tree to all tasks of a file, and the pool's processes for trusted code."""

    def __init__(self, pool: Pool, *, tensors: bool) -> None:
        self.sandboxed, self.hidden = pool.sandboxed, pool.hidden
        self._pool, self._tensors = pool, tensors
        self._tree: ForkServer | None = None
        self._never_loads: WorkerFault | None = None
        self.time = HandInTime()
        self.remarks: tuple[str, ...] = ()  # on cells of the notebook that was loaded last

    @contextmanager
    def fresh(self, *, tensors: bool) -> Iterator[ForkServer]:
        """Yield the processes that run the file. After a fault of its processes, the next task gets new ones.

        If the file could not be loaded in time, raise this `WorkerFault` again at once for each further task. If no
        time is left for the hand-in, raise a `WorkerFault` too.
        """
        if self._never_loads or not self.time.left_s:
            raise self._never_loads or self.time.used_up
        with self.time.entered(self._taken(tensors=tensors or self._tensors)) as tree:
            self._tree, tree.time = None, self.time
        try:
            tree.start_task()
            yield tree
            self._tree = tree
        except WorkerFault as fault:
            fault.printed = fault.printed or tree.output_tail
            self._never_loads = fault if fault.never_loads else None
            self._tree = tree if fault.status in FUNCTION_FAULTS else None
            raise
        finally:
            self.remarks = tree.remarks or self.remarks
            if self._tree is None:
                tree.close()

    @contextmanager
    def _taken(self, *, tensors: bool) -> Iterator[ForkServer]:
        yield self._tree or self._pool.take(tensors=tensors)

    def trusted(self, *, tensors: bool) -> AbstractContextManager[ForkServer]:
        """Return a context manager that lends processes for trusted code, with torch imported if `tensors`."""
        return self._pool.trusted(tensors=tensors)

    def close(self) -> None:
        """End the processes that run the file."""
        if self._tree:
            self._tree.close()


TreeSource = Pool | HandInTrees
"""An object that lends process trees to the caller. A process tree is a Python process and its descendants."""
