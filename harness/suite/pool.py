"""Run benchmarks in worker processes. Each worker has its own cores.

Each worker runs on the reserved cores of a lane (`harness.machine.lanes`). The lane has one core per thread of the
benchmarks, but at most all cores of the machine. A worker gets one benchmark at a time. If the worker crashes or takes
too long, this benchmark fails, and a new worker runs the next benchmark.
"""

import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from harness.callgrind import tools
from harness.machine import lanes
from harness.processes import process_env
from harness.processes.channel import Closed, Late
from harness.processes.launcher import KIT, Child
from harness.suite.worker import BENCHMARK

START_S: Final = 180.0
"""Time limit for the start of a worker, in seconds. Under valgrind, importing torch takes 15 s on an idle machine."""

Answer = Mapping[str, Any]
"""A message from or to a worker. If a benchmark fails, the worker's answer has the reason as "failure"."""


class WorkerDied(Exception):  # noqa: N818 - it reports a failed benchmark, not an error of the suite
    """A worker ended or was killed while it ran a benchmark. The message gives the reason."""


class SuiteWorker:
    """A worker process, which runs `harness.suite.worker`. Call `close` at the end."""

    def __init__(self, mode: str, cores: Sequence[int] = ()) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fairclock-suite-")
        out = f"--callgrind-out-file={self._folder.name}/out.%p"
        valgrind = ["valgrind", "--tool=callgrind", "-q", "--instr-atstart=no", "--collect-atstart=no", out]
        python = [sys.executable, "-m", "harness.suite.worker", mode]
        self._child = Child(
            process_env.command([*valgrind, *python] if mode == "count" else python),
            {**tools.environment(), "PYTHONPATH": str(KIT)},
            folder=Path(self._folder.name),
        )
        if cores:
            with suppress(ProcessLookupError):
                process_env.pin(self._child.pid, cores)
        self._ready = False

    def run(self, request: Answer, limit_s: float) -> Answer:
        """Run one benchmark in the worker, and return its result.

        Raise `WorkerDied` if the worker ends, or if the benchmark takes longer than `limit_s` seconds.
        """
        if not self._ready:
            self._next(START_S)
            self._ready = True
        self._child.send(BENCHMARK, request)
        return self._next(limit_s)

    def profiles(self, answer: Answer) -> list[Path]:
        """Return the paths of the Callgrind profiles that a count wrote, one per repeat."""
        place = Path(self._folder.name)
        return [place / f"out.{answer['process']}.{number}" for number in range(1, answer["repeats"] + 1)]

    def close(self) -> None:
        """End the process and all its child processes."""
        self._child.end()
        self._folder.cleanup()

    def _next(self, limit_s: float) -> Answer:
        try:
            return self._child.receive(limit_s)[1]
        except Late:
            raise WorkerDied(f"gave no answer within {limit_s:g} s") from None
        except Closed:
            last = (self._child.log_lines() or ["it printed nothing"])[-1]
            raise WorkerDied(f"ended its worker: {last}") from None


Serve = Callable[[SuiteWorker, Any, Sequence[int]], None]
"""A function that makes a worker measure a benchmark on the given cores, and stores the result."""


def serve_all(
    mode: str, widths: Mapping[int, Sequence[Any]], jobs: int, serve: Serve, failed: Callable[..., None]
) -> None:
    """Measure all benchmarks in worker processes. `widths` maps a number of threads to its benchmarks.

    At most `jobs` workers run at the same time, each on its own reserved cores. Benchmarks with the most threads run
    first. `serve(worker, item, cores)` measures a benchmark. If it raises `WorkerDied`, `failed(item, why)` is called,
    and a new worker runs the next benchmark.
    """
    physical = lanes.physical_cores()
    for threads in sorted(widths, reverse=True):
        width = min(max(threads, 1), physical)
        queue = deque(widths[threads])
        count = max(1, min(jobs, physical // width, len(queue)))
        with ThreadPoolExecutor(count) as pool:
            ending = [pool.submit(_serve_queue, mode, width, queue, serve, failed) for _ in range(count)]
            try:
                for each in ending:
                    each.result()
            except BaseException:
                queue.clear()  # so no worker starts another item
                raise


def _serve_queue(mode: str, width: int, queue: deque[Any], serve: Serve, failed: Callable[..., None]) -> None:
    with lanes.lane(width=width) as held:
        worker: SuiteWorker | None = None
        try:
            for item in _rest(queue):
                worker = worker or SuiteWorker(mode, held.cores)
                try:
                    serve(worker, item, held.cores)
                except WorkerDied as died:
                    worker.close()
                    worker = None
                    failed(item, str(died))
        finally:
            if worker is not None:
                worker.close()


def _rest(queue: deque[Any]) -> Iterator[Any]:
    with suppress(IndexError):
        while True:
            yield queue.popleft()
