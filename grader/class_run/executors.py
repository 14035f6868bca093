"""Where gradings run: lanes, as a `concurrent.futures.Executor`. Those of other machines are `cluster`'s.

A lane is a thread that waits for processes: what is timed runs in them, so that threads cost a measurement
nothing. The standard pool of threads is not used because the interpreter waits for its threads at the end:
one Ctrl-C must suffice to leave a run, whatever its lanes are waiting for.
"""

import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own

P = ParamSpec("P")
T = TypeVar("T")


class Lanes(Executor, ABC):
    """Lanes, here or elsewhere, that can be left at once."""

    @abstractmethod
    def abandon(self) -> None:
        """Drop everything at once: cancel what is queued, and end what is being graded."""


class Threads(Lanes):
    """`jobs` threads that take work in the order it was handed in."""

    def __init__(self, jobs: int) -> None:
        if jobs < 1:
            raise ValueError("a run needs at least one lane")
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._futures: set[Future[Any]] = set()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._serve, name=f"lane-{number}", daemon=True) for number in range(jobs)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queue a call and return its future."""
        if self._closed:
            raise RuntimeError("these lanes are closed")
        future: Future[T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as fault:  # noqa: BLE001 - a future carries whatever its call raised
                future.set_exception(fault)
            else:
                future.set_result(result)

        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        self._work.put(work)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work. With `wait`, return when all that was taken is done."""
        self._closed = True
        if cancel_futures:
            for future in list(self._futures):
                future.cancel()
        for _ in self._threads:
            self._work.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def abandon(self) -> None:
        """Cancel what is queued, and kill every process started from this one."""
        self.shutdown(wait=False, cancel_futures=True)
        for process in psutil.Process().children(recursive=True):
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue  # it ended by itself in between

    def _serve(self) -> None:
        while work := self._work.get():
            work()
