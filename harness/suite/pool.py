"""Workers: processes that run benchmarks on cores of their own.

A worker holds a lane (`harness.lanes`) as wide as its benchmarks have threads, or as the machine is, and stays on
those cores. It is asked for one benchmark at a time. One that dies, or answers too late, costs the benchmark at hand;
for the next, another is started.
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

from harness import lanes, twins
from harness.callgrind import tools

START_S: Final = 180.0
"""A worker that is not ready by then will not be: importing torch under valgrind takes 15 s, on a busy day more."""

_POLL_S: Final = 0.5
"""How often a waiting thread looks whether its worker still lives: a child of it may hold the pipe open."""

LAST_WORDS: Final = 300
"""Characters that are told of what a dead worker said last."""

ROOT: Final = Path(__file__).parent.parent.parent

Answer = Mapping[str, Any]
"""What came of one request: a measurement, or why there is none under "failure"."""


class WorkerDied(Exception):  # noqa: N818 - it has died; that is no error of ours
    """A worker ended or was ended; the message says how."""


class Worker:
    """One process of `harness.suite.worker` on these cores. Close it, or use it in a `with` block."""

    def __init__(self, mode: str, cores: Sequence[int] = ()) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fairclock-suite-")
        self._log = (Path(self._folder.name) / "log").open("w+b")
        self._pending = b""
        python = [sys.executable, "-m", "harness.suite.worker", mode]
        self._popen = subprocess.Popen(
            twins.command([*self._valgrind(), *python] if mode == "count" else python),
            env={**tools.surroundings(), "PYTHONPATH": str(ROOT)},
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
                twins.pin(self._popen.pid, cores)
        self._ready = False

    def _valgrind(self) -> list[str]:
        out = f"--callgrind-out-file={self._folder.name}/out.%p"
        return ["valgrind", "--tool=callgrind", "-q", "--instr-atstart=no", "--collect-atstart=no", out]

    def ask(self, request: Answer, limit_s: float) -> Answer:
        """Run one benchmark. Raises `WorkerDied` when it ends the worker, or takes longer than `limit_s` seconds."""
        if not self._ready:
            self._ready = bool(self._next(START_S))
        assert self._popen.stdin is not None
        with suppress(BrokenPipeError):
            self._popen.stdin.write(f"{json.dumps(dict(request))}\n".encode())
        return self._next(limit_s)

    def profiles(self, answer: Answer) -> list[Path]:
        """The files that Callgrind has written for a count, one for each repeat."""
        place = Path(self._folder.name)
        return [place / f"out.{answer['process']}.{number}" for number in range(1, answer["repeats"] + 1)]

    def _next(self, limit_s: float) -> Answer:
        deadline_s = time.monotonic() + limit_s
        while b"\n" not in self._pending:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                raise WorkerDied(f"gave no answer within {limit_s:g} s")
            dead = self._popen.poll() is not None  # asked first: what a dead worker has said is there to be read
            if not select.select([self._answers], [], [], 0 if dead else min(left_s, _POLL_S))[0]:
                if dead:
                    raise WorkerDied(f"ended its worker: {self._last_words()}")
                continue
            part = os.read(self._answers.fileno(), 1 << 16)
            if not part:
                raise WorkerDied(f"ended its worker: {self._last_words()}")
            self._pending += part
        line, _, self._pending = self._pending.partition(b"\n")
        answer: Answer = json.loads(line)
        return answer

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return (lines or ["it said nothing"])[-1][:LAST_WORDS]

    def close(self) -> None:
        """End the process, and whatever it has started."""
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
"""Asks a worker for one item, on these cores, and keeps what came of it."""


def serve_all(
    mode: str, widths: Mapping[int, Sequence[Any]], jobs: int, serve: Serve, failed: Callable[..., None]
) -> None:
    """Have workers serve every item, the widest first; `widths` has the items by how many threads they run.

    At most `jobs` workers run at a time, each in a lane. `serve` may raise `WorkerDied`: then `failed(item, why)` is
    called, and the next item gets another worker.
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
                for _ in _rest(queue):  # nobody begins another one
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
