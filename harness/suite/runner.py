"""Run the suite: compile the C++ benchmarks, measure wall times, and count instructions."""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from rich.progress import Progress

from harness.callgrind import tools
from harness.compilers.inductor import cannot_compile
from harness.errors import UsageError
from harness.machine.environment import Environment
from harness.storage import disk_cache
from harness.suite import cpp, pool
from harness.suite.expand import Benchmark
from harness.suite.pool import SuiteWorker
from harness.suite.results import Result, Suite, SuiteSettings, earlier_results, load, save

KIND: Final = "suite"  # the folder in the cache that holds the counts

LIMIT_S, LONG_LIMIT_S = 60.0, 300.0  # of a benchmark; the second one with `torch.compile` or valgrind

NOT_COUNTED: Final = (
    "torch.compile writes machine code for this processor, and valgrind does not support all of its instructions: "
    "compare wall times"
)

_MESSAGE_LENGTH: Final = 300  # a result keeps only this number of characters of an error message


@dataclass
class SuiteRun:
    """A run of benchmarks, which writes its results to `out`. `results` are known already, by the benchmark's key."""

    benchmarks: Sequence[Benchmark]
    settings: SuiteSettings
    out: Path
    environment: Environment
    results: dict[str, Result]
    jobs: int
    bars: Progress
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def go(self, *, count: bool, recount: bool) -> Suite:
        """Measure every benchmark that has no result yet, and return all results."""
        no_compiler = tools.lacking_compiler()
        for benchmark in self.benchmarks:
            if benchmark.args.compiled and not self._result(benchmark).times_s and (missing := cannot_compile()):
                self._keep(benchmark, left_out=missing)
            elif benchmark.is_cpp and no_compiler:
                self._keep(benchmark, failure=no_compiler)
        self._compile()
        self._time()
        if count:
            self._count(recount=recount)
        save(self._suite(), self.out)
        return self._suite()

    def _suite(self) -> Suite:
        return Suite(self.environment, self.settings, tuple(map(self._result, self.benchmarks)))

    def _result(self, benchmark: Benchmark) -> Result:
        return self.results.get(benchmark.key) or Result.of(benchmark)

    def _keep(self, benchmark: Benchmark, **found: Any) -> None:
        for name in {"failure", "left_out", "uncounted"} & set(found):
            found[name] = " ".join(found[name].split())[:_MESSAGE_LENGTH]
        with self._lock:
            self.results[benchmark.key] = replace(self._result(benchmark), **found)
            save(self._suite(), self.out, durable=False)

    def _measurable(self) -> list[tuple[Benchmark, Result]]:
        pairs = [(benchmark, self._result(benchmark)) for benchmark in self.benchmarks]
        return [(benchmark, result) for benchmark, result in pairs if not result.failure and not result.left_out]

    def _compile(self) -> None:
        wanted = [
            benchmark
            for benchmark, result in self._measurable()
            if benchmark.is_cpp and not (result.times_s and (result.instructions or result.uncounted))
        ]
        for benchmark, why in cpp.build(wanted, self.jobs, self._bar("compiling C++", wanted)).items():
            self._keep(benchmark, failure=why)

    def _time(self) -> None:
        def serve(worker: SuiteWorker, benchmark: Benchmark) -> None:
            limit_s = LONG_LIMIT_S if benchmark.args.compiled else LIMIT_S
            answer = worker.run(self._request(benchmark), limit_s + 2 * self.settings.min_run_time_s)
            kept = {name: answer[name] for name in ("runs_per_sample", "failure") if name in answer}
            self._keep(benchmark, cores=worker.cores, times_s=tuple(answer.get("times_s", ())), **kept)
            done(1)

        wanted = [benchmark for benchmark, result in self._measurable() if not result.times_s]
        done = self._bar("taking wall times", wanted)
        pool.serve_all("time", wanted, self.jobs, serve)

    def _count(self, *, recount: bool) -> None:
        def serve(worker: SuiteWorker, benchmark: Benchmark) -> None:
            answer = worker.run(self._request(benchmark), LONG_LIMIT_S)
            if "failure" in answer:
                self._keep(benchmark, uncounted=answer["failure"])
            else:
                save_counts(benchmark, self.settings, tuple(answer["instructions"]))
                self._keep_counts(benchmark, tuple(answer["instructions"]))
            done(1)

        wanted, missing = [], tools.lacking()
        for benchmark, result in self._measurable():
            if benchmark.args.compiled:
                self._keep(benchmark, uncounted=NOT_COUNTED)
            elif not result.instructions:
                if not recount and (found := load_counts(benchmark, self.settings)):
                    self._keep_counts(benchmark, found)
                elif missing:
                    self._keep(benchmark, uncounted=missing)
                else:
                    wanted.append(benchmark)
        done = self._bar("counting instructions", wanted)
        pool.serve_all("count", wanted, self.jobs, serve)

    def _keep_counts(self, benchmark: Benchmark, found: tuple[int, ...]) -> None:
        self._keep(benchmark, instructions=found, number=self.settings.number, uncounted="")

    def _request(self, benchmark: Benchmark) -> dict[str, Any]:
        request = {"library": "", **asdict(self.settings), **benchmark.code}
        if benchmark.is_cpp:
            request |= {"library": str(cpp.library_of(benchmark)), "function": cpp.function_name(benchmark)}
        return request

    def _bar(self, what: str, wanted: Sequence[Benchmark]) -> Callable[[int], None]:
        task = self.bars.add_task(what, total=len(wanted), visible=bool(wanted))
        return lambda more: self.bars.advance(task, more)


def measure(
    benchmarks: Sequence[Benchmark],
    out: Path,
    settings: SuiteSettings,
    *,
    fresh: bool = False,
    count: bool = True,
    recount: bool = False,
    jobs: int | None = None,
    bars: Progress | None = None,
) -> Suite:
    """Run benchmarks, write the results to the file `out`, and return them.

    Benchmarks with results in `out` are not measured again, unless `fresh` is true. With `recount`, counts of earlier
    runs from the cache are not used. Raise `UsageError` if `out` is another file or has results of another machine.
    """
    if not out.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} for {out.name}; create it first.")
    here = Environment.capture()
    if fresh and out.is_file():
        load(out)  # another file is not overwritten
    known = {} if fresh else earlier_results(out, here, settings)
    run = SuiteRun(benchmarks, settings, out, here, known, jobs or os.cpu_count() or 1, bars or Progress(disable=True))
    return run.go(count=count, recount=recount)


def load_counts(benchmark: Benchmark, settings: SuiteSettings) -> tuple[int, ...] | None:
    """Return a benchmark's counts from an earlier run with the same software, or None if there are none."""
    found = disk_cache.load(KIND, _key(benchmark, settings))
    return tuple(map(int, found)) if isinstance(found, list) and found else None


def save_counts(benchmark: Benchmark, settings: SuiteSettings, counts: tuple[int, ...]) -> None:
    """Store the counts of a benchmark for later runs."""
    disk_cache.keep(KIND, _key(benchmark, settings), list(counts))


def _key(benchmark: Benchmark, settings: SuiteSettings) -> str:
    how = Path(__file__).with_name("worker.py").read_text(encoding="utf-8")
    return disk_cache.digest({
        "benchmark": benchmark.key,
        "counted": [settings.number, settings.repeats, how],
        "machine code": cpp.function_name(benchmark) if benchmark.is_cpp else "",
        **tools.software(compiles=benchmark.is_cpp),
    })  # fmt: skip
