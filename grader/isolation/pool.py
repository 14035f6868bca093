"""Process trees that are ready before they are needed, so that importing torch keeps nobody waiting.

A tree for a submission is new: it was exec'd for it, has run nothing yet, and ends with it. Trees for trusted code
(baselines, known wrong answers) are lent out and taken back, since nothing that runs in them can spoil them.
"""

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

from grader.errors import WorkerFault
from grader.isolation.forkserver import ForkServer
from grader.records import Status

ITS_OWN: Final = frozenset({Status.WRONG, Status.RAISED})
"""Faults after which a tree serves on: the function was at fault, and its process did what it should."""


class Trees(Protocol):
    """Where trees come from."""

    sandboxed: bool
    hidden: Sequence[Path]

    def fresh(self, *, tensors: bool) -> AbstractContextManager[ForkServer]:
        """A tree for a submission."""
        ...

    def trusted(self, *, tensors: bool) -> AbstractContextManager[ForkServer]:
        """A tree for trusted code."""
        ...


class Pool:
    """Starts trees, keeps `spare` of those with torch ready, and ends them all. Threads may share it."""

    def __init__(self, *, sandboxed: bool = True, hidden: Sequence[Path] = (), spare: int = 0) -> None:
        self.sandboxed = sandboxed
        self.hidden: Sequence[Path] = tuple(hidden)
        self._spare = spare
        self._ready: deque[ForkServer] = deque()
        self._trusted: dict[bool, list[ForkServer]] = {True: [], False: []}
        self._closed = False
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def warm(self, trees: int) -> None:
        """Start trees with torch until `trees` are ready or on the way. Returns at once."""
        with self._lock:
            while len(self._ready) < trees:
                self._ready.append(self._start(tensors=True))

    @contextmanager
    def fresh(self, *, tensors: bool) -> Iterator[ForkServer]:
        """A tree for one submission, ended afterwards; what it printed goes with a fault of the submission."""
        tree = self._take(tensors=tensors)
        try:
            tree.meet()
            yield tree
        except WorkerFault as fault:
            fault.printed = fault.printed or tree.output_tail
            raise
        finally:
            tree.close()

    @contextmanager
    def trusted(self, *, tensors: bool) -> Iterator[ForkServer]:
        """A tree for trusted code alone, lent to one at a time; a submission's fault meanwhile does not spoil it."""
        with self._lock:
            idle = self._trusted[tensors]
            tree = idle.pop() if idle else None
        tree = tree or self._take(tensors=tensors)
        spoilt = True
        try:
            tree.meet()
            tree.lend()
            yield tree
            spoilt = False
        except WorkerFault:
            spoilt = False
            raise
        finally:
            with self._lock:
                kept = not (spoilt or self._closed)
                if kept:
                    idle.append(tree)
            if not kept:
                tree.close()

    @contextmanager
    def one_hand_in(self, *, tensors: bool) -> Iterator[Trees]:
        """The trees of one hand-in: all of its tasks share one, with torch if any of them needs that."""
        with ExitStack() as stack:
            yield _Shared(self, stack, tensors=tensors)

    def close(self) -> None:
        """End every tree that is not lent out."""
        with self._lock:
            self._closed = True
            trees = [*self._ready, *self._trusted[True], *self._trusted[False]]
            self._ready.clear()
            self._trusted = {True: [], False: []}
        for tree in trees:
            tree.close()

    def _take(self, *, tensors: bool) -> ForkServer:
        if not tensors:
            return self._start(tensors=False)
        with self._lock:
            tree = self._ready.popleft() if self._ready else None
        self.warm(self._spare)
        return tree or self._start(tensors=True)

    def _start(self, *, tensors: bool) -> ForkServer:
        return ForkServer(tensors=tensors, sandboxed=self.sandboxed, hidden=self.hidden)


class _Shared:
    """A pool to the tasks of one hand-in, which lends them the same tree as long as that is sound."""

    def __init__(self, pool: Pool, stack: ExitStack, *, tensors: bool) -> None:
        self.sandboxed, self.hidden = pool.sandboxed, pool.hidden
        self._pool, self._stack, self._tensors = pool, stack, tensors
        self._tree: ForkServer | None = None

    @contextmanager
    def fresh(self, *, tensors: bool) -> Iterator[ForkServer]:
        """The hand-in's tree, which has said nothing yet to whom it is lent; a new one after a fault of its process."""
        tree = self._tree or self._stack.enter_context(self._pool.fresh(tensors=tensors or self._tensors))
        tree.lend()
        self._tree = None
        try:
            yield tree
            self._tree = tree
        except WorkerFault as fault:
            fault.printed = fault.printed or tree.output_tail
            if fault.status in ITS_OWN:
                self._tree = tree
            raise

    def trusted(self, *, tensors: bool) -> AbstractContextManager[ForkServer]:
        """A tree for trusted code, which is everybody's."""
        return self._pool.trusted(tensors=tensors)
