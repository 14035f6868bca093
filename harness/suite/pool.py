"""Run benchmarks in worker processes, one at a time, on the reserved cores of a lane (`harness.machine.lanes`)."""

import sys
import tempfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from harness.callgrind import script, tools
from harness.callgrind.lookups import search_names
from harness.machine import lanes
from harness.processes import process_env
from harness.processes.channel import Closed, Late
from harness.processes.launcher import KIT, Child
from harness.suite.expand import Benchmark
from harness.suite.worker import BENCHMARK

START_S: Final = 180.0  # for the start of a worker: under valgrind, importing torch takes 15 s on an idle machine

Answer = Mapping[str, Any]
"""A message from or to a worker, with the reason as "failure" if a benchmark has failed."""


class SuiteWorker:
    """A worker on its own cores, which runs `harness.suite.worker` in a process. Use it in a `with` block."""

    def __init__(self, mode: str, cores: Sequence[int]) -> None:
        self.cores = tuple(cores)
        self._mode = mode
        self._folder = tempfile.TemporaryDirectory(prefix="fairclock-suite-")
        self._child: Child | None = None
        self._stopped = False

    def run(self, request: Answer, limit_s: float) -> Answer:
        """Run one benchmark, and return its result, or the reason for its failure: it may take `limit_s` seconds."""
        waited_s = START_S
        try:
            if self._child is None:
                self._child = self._start()
                self._child.receive(START_S)
            waited_s = limit_s
            self._child.send(BENCHMARK, request)
            answer = self._child.receive(limit_s)[1]
        except Late:
            why = f"gave no answer within {waited_s:g} s"
        except Closed:
            assert self._child is not None
            if self._stopped:
                raise
            why = f"ended its worker: {(self._child.log_lines() or ['it printed nothing'])[-1]}"
        else:
            return self._counted(answer) if "repeats" in answer else answer
        self._end()
        return {"failure": why}

    def stop(self) -> None:
        """Kill the process, so that `run` in another thread raises `Closed`."""
        self._stopped = True
        if self._child is not None:
            self._child.kill()

    def _start(self) -> Child:
        out = f"--callgrind-out-file={self._folder.name}/out.%p"
        valgrind = ["valgrind", "--tool=callgrind", "-q", "--instr-atstart=no", "--collect-atstart=no", out]
        python = [sys.executable, "-m", "harness.suite.worker", self._mode]
        child = Child(
            process_env.command([*valgrind, *python] if self._mode == "count" else python),
            {**tools.environment(), "PYTHONPATH": str(KIT)},
            folder=Path(self._folder.name),
        )
        with suppress(ProcessLookupError):
            process_env.pin(child.pid, self.cores)
        return child

    def _counted(self, answer: Answer) -> Answer:
        # The instructions of dictionary lookups depend on hashes.
        counts = []
        try:
            for number in range(1, answer["repeats"] + 1):
                path = Path(self._folder.name, f"out.{answer['process']}.{number}")
                with path.open(encoding="utf-8", errors="replace") as lines:
                    profile = script.parse(lines)
                counts.append(profile.total - sum(profile.exclusive[name] for name in search_names(profile.exclusive)))
        except (OSError, script.ProfileError) as error:
            return {"failure": f"wrote no count: {error}"}
        return {"instructions": counts}

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
        self._child = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._folder.cleanup()


Serve = Callable[[SuiteWorker, Benchmark], None]  # makes a worker measure a benchmark, and stores the result


def serve_all(mode: str, benchmarks: Sequence[Benchmark], jobs: int, serve: Serve) -> None:
    """Call `serve(worker, benchmark)` for each benchmark. The benchmarks with the most threads run first.

    At most `jobs` workers run at the same time, each on its own reserved cores.
    """
    physical, workers = lanes.physical_cores(), list[SuiteWorker]()
    widths: dict[int, deque[Benchmark]] = {}
    for benchmark in sorted(benchmarks, key=lambda each: -each.args.num_threads):
        # One core is enough for counting: valgrind runs one thread at a time, and the core does not change a count.
        width = 1 if mode == "count" else min(max(benchmark.args.num_threads, 1), physical)
        widths.setdefault(width, deque()).append(benchmark)
    for width, queue in widths.items():
        count = max(1, min(jobs, physical // width, len(queue)))
        with ThreadPoolExecutor(count) as pool:
            ending = [pool.submit(_serve_queue, mode, width, queue, serve, workers) for _ in range(count)]
            try:
                for each in ending:
                    each.result()
            except BaseException:
                queue.clear()  # so no worker starts another benchmark
                for worker in workers:
                    worker.stop()
                raise


def _serve_queue(mode: str, width: int, queue: deque[Benchmark], serve: Serve, workers: list[SuiteWorker]) -> None:
    with lanes.lane(width=width) as held, SuiteWorker(mode, held.cores) as worker:
        workers.append(worker)
        while True:
            try:
                benchmark = queue.popleft()
            except IndexError:
                return
            serve(worker, benchmark)
