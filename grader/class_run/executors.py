"""Executors that grade several submissions at the same time, in threads of this process or on other machines.

Each thread is called a lane and waits for processes. The timed code runs in these processes, so threads do not disturb
a measurement. The standard thread pool is not used, because the interpreter waits for its threads at exit, but Ctrl-C
must end a run at once.
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
    """An executor for gradings that can be stopped at once with `abandon`."""

    @abstractmethod
    def abandon(self) -> None:
        """Cancel the queued gradings, and stop the current ones."""


class Threads(Lanes):
    """An executor with `jobs` threads of this process. Calls start in the order in which they were submitted."""

    def __init__(self, jobs: int) -> None:
        if jobs < 1:
            raise ValueError("A run needs at least one lane.")
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._futures: set[Future[Any]] = set()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._serve, name=f"lane-{number}", daemon=True) for number in range(jobs)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Add the call of `fn` to the queue, and return the future of its result."""
        if self._closed:
            raise RuntimeError("These lanes are closed.")
        future: Future[T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as fault:  # noqa: BLE001 - the future holds any exception of its call
                future.set_exception(fault)
            else:
                future.set_result(result)

        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        self._work.put(work)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no further calls. With `wait`, return when all accepted calls are done."""
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
        """Cancel the queued calls, and kill every child process of this process, so that running calls end."""
        self.shutdown(wait=False, cancel_futures=True)
        for process in psutil.Process().children(recursive=True):
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue  # the process has ended already

    def _serve(self) -> None:
        while work := self._work.get():
            work()
