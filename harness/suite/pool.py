"""Run benchmarks in worker processes. Each worker has its own cores.

Each worker runs on the reserved cores of a lane (`harness.machine.lanes`). The lane has one core per thread of the
benchmarks, but at most all cores of the machine. A worker gets one benchmark at a time. If the worker crashes or takes
too long, this benchmark fails, and a new worker runs the next benchmark.
"""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Final, Self

from harness.callgrind import tools
from harness.machine import lanes
from harness.processes import process_env

START_S: Final = 180.0
"""Time limit for the start of a worker, in seconds. Under valgrind, importing torch takes 15 s on an idle machine."""

# Seconds between two checks whether a worker still runs. If a child process of the worker keeps the pipe open, the pipe
# does not show that the worker has ended.
_POLL_S: Final = 0.5

MAX_MESSAGE: Final = 300
"""Number of characters of a worker's last output that an error message shows."""

ROOT: Final = Path(__file__).parent.parent.parent

Answer = Mapping[str, Any]
"""A message from or to a worker, as JSON. If a benchmark fails, the worker's answer has the reason as "failure"."""


class WorkerDied(Exception):  # noqa: N818 - it reports a failed benchmark, not an error of the suite
    """A worker ended or was killed while it ran a benchmark. The message gives the reason."""


class Worker:
    """A worker process, which runs `harness.suite.worker`. It ends with `close` or at the end of a `with` block."""

    def __init__(self, mode: str, cores: Sequence[int] = ()) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fairclock-suite-")
        self._log = (Path(self._folder.name) / "log").open("w+b")
        self._pending = b""
        python = [sys.executable, "-m", "harness.suite.worker", mode]
        self._popen = subprocess.Popen(
            process_env.command([*self._valgrind(), *python] if mode == "count" else python),
            env={**tools.environment(), "PYTHONPATH": str(ROOT)},
            cwd=self._folder.name,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,
            bufsize=0,
        )
        assert self._popen.stdout is not None
        self._answers = self._popen.stdout
        if cores:
            with suppress(ProcessLookupError):
                process_env.pin(self._popen.pid, cores)
        self._ready = False

    def _valgrind(self) -> list[str]:
        out = f"--callgrind-out-file={self._folder.name}/out.%p"
        return ["valgrind", "--tool=callgrind", "-q", "--instr-atstart=no", "--collect-atstart=no", out]

    def run(self, request: Answer, limit_s: float) -> Answer:
        """Run one benchmark in the worker, and return its result.

        Raise `WorkerDied` if the worker ends, or if the benchmark takes longer than `limit_s` seconds.
        """
        if not self._ready:
            self._ready = bool(self._next(START_S))
        assert self._popen.stdin is not None
        with suppress(BrokenPipeError):
            self._popen.stdin.write(f"{json.dumps(dict(request))}\n".encode())
        return self._next(limit_s)

    def profiles(self, answer: Answer) -> list[Path]:
        """Return the paths of the Callgrind profiles that a count wrote, one per repeat."""
        place = Path(self._folder.name)
        return [place / f"out.{answer['process']}.{number}" for number in range(1, answer["repeats"] + 1)]

    def _next(self, limit_s: float) -> Answer:
        deadline_s = time.monotonic() + limit_s
        while b"\n" not in self._pending:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                raise WorkerDied(f"gave no answer within {limit_s:g} s")
            dead = (
                self._popen.poll() is not None
            )  # checked before reading, so that the answer of a worker that has just ended is still read
            if not select.select([self._answers], [], [], 0 if dead else min(left_s, _POLL_S))[0]:
                if dead:
                    raise WorkerDied(f"ended its worker: {self._last_message()}")
                continue
            part = os.read(self._answers.fileno(), 1 << 16)
            if not part:
                raise WorkerDied(f"ended its worker: {self._last_message()}")
            self._pending += part
        line, _, self._pending = self._pending.partition(b"\n")
        answer: Answer = json.loads(line)
        return answer

    def _last_message(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return (lines or ["it printed nothing"])[-1][:MAX_MESSAGE]

    def close(self) -> None:
        """End the process and all its child processes."""
        assert self._popen.stdin is not None
        self._popen.stdin.close()
        with suppress(ProcessLookupError):
            os.killpg(self._popen.pid, 9)
        self._popen.wait()
        self._answers.close()
        self._log.close()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


Serve = Callable[[Worker, Any, Sequence[int]], None]
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
        queue: SimpleQueue[Any] = SimpleQueue()
        for item in widths[threads]:
            queue.put(item)
        count = max(1, min(jobs, physical // width, len(widths[threads])))
        with ThreadPoolExecutor(count) as threads_pool:
            ending = [threads_pool.submit(_serve_queue, mode, width, queue, serve, failed) for _ in range(count)]
            try:
                for each in ending:
                    each.result()
            except BaseException:
                for _ in _rest(queue):  # empties the queue, so that no worker starts another item
                    pass
                raise


def _serve_queue(mode: str, width: int, queue: SimpleQueue[Any], serve: Serve, failed: Callable[..., None]) -> None:
    with lanes.lane(width=width) as held:
        worker: Worker | None = None
        try:
            for item in _rest(queue):
                worker = worker or Worker(mode, held.cores)
                try:
                    serve(worker, item, held.cores)
                except WorkerDied as died:
                    worker.close()
                    worker = None
                    failed(item, str(died))
        finally:
            if worker is not None:
                worker.close()


def _rest(queue: SimpleQueue[Any]) -> Iterator[Any]:
    with suppress(Empty):
        while True:
            yield queue.get_nowait()
