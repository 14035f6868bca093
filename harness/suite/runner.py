"""Run the suite: compile the C++ benchmarks, measure wall times, and count instructions.

If a benchmark does not compile, raises an exception, crashes or hangs, its result holds the reason, and the other
benchmarks still run. If the machine lacks something that a benchmark needs, such as a compiler or TorchScript, its
result holds the reason too.
"""

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from harness.callgrind import tools
from harness.callgrind.outfile import ProfileError
from harness.compilers import cannot_compile, torchscript_support
from harness.errors import UsageError
from harness.machine.environment import Environment
from harness.suite import counts, cpp, pool
from harness.suite.benchmark import Benchmark
from harness.suite.pool import SuiteWorker, WorkerDied
from harness.suite.results import Result, Suite, SuiteSettings, earlier_results, save

LIMIT_S: Final = 60.0
"""Time limit in seconds for one benchmark, in addition to the requested seconds of measuring."""

COMPILE_LIMIT_S: Final = 300.0
"""Time limit in seconds for one benchmark with `torch.compile`, in addition to the requested seconds of measuring.
Compiling takes seconds on an idle machine, and minutes on a busy machine."""

COUNT_LIMIT_S: Final = 300.0
"""Time limit for the counts of one benchmark, in seconds. Under valgrind, code takes fifty times as long."""

NOT_COUNTED: Final = (
    "torch.compile writes machine code for this processor, and valgrind does not support all of its instructions: "
    "compare wall times"
)
"""The text that explains why the instructions of a benchmark with `torch.compile` are not counted."""

MESSAGE_LENGTH: Final = 300
"""Number of characters of an error message that a result keeps."""

Watch = Callable[[str, int, int], None]
"""A function that shows progress. Its arguments are the phase, the phase's number of benchmarks, and the number of
benchmarks that have just finished."""


@dataclass
class SuiteRun:
    """A run of benchmarks, which writes its results to `out`. `results` are the known ones, by the benchmark's key."""

    benchmarks: Sequence[Benchmark]
    settings: SuiteSettings
    out: Path
    results: dict[str, Result]
    jobs: int
    watch: Watch
    environment: Environment = field(default_factory=Environment.capture)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def go(self, *, count: bool = True, recount: bool = False) -> Suite:
        """Measure every benchmark that has no result yet, and return all results.

        With `recount`, instructions are counted again, although the cache may hold counts of earlier runs.
        """
        for benchmark in self.benchmarks:
            if not self._result(benchmark).times_s and (missing := lacking(benchmark)):
                self._keep(benchmark, left_out=missing)
        if no_compiler := tools.lacking_compiler():
            for benchmark in self._measurable():
                if benchmark.is_cpp:
                    self._keep(benchmark, failure=no_compiler)
        else:
            self._compile()
        self._time()
        if count:
            self._count(recount=recount)
        suite = self._suite()
        save(suite, self.out)
        return suite

    def _suite(self) -> Suite:
        return Suite(self.environment, self.settings, tuple(map(self._result, self.benchmarks)))

    def _result(self, benchmark: Benchmark) -> Result:
        return self.results.get(benchmark.key) or Result.of(benchmark)

    def _keep(self, benchmark: Benchmark, **found: Any) -> None:
        for name in {"failure", "left_out", "uncounted"} & set(found):
            found[name] = " ".join(found[name].split())[:MESSAGE_LENGTH]
        with self._lock:
            self.results[benchmark.key] = replace(self._result(benchmark), **found)
            save(self._suite(), self.out, durable=False)

    def _measurable(self) -> list[Benchmark]:
        results = {benchmark: self._result(benchmark) for benchmark in self.benchmarks}
        return [benchmark for benchmark, result in results.items() if not result.failure and not result.left_out]

    def _compile(self) -> None:
        wanted = [
            benchmark for benchmark in self._measurable() if benchmark.is_cpp and not self._result(benchmark).complete
        ]
        for benchmark, why in cpp.build(wanted, self.jobs, self._progress("compiling C++", len(wanted))).items():
            self._keep(benchmark, failure=why)

    def _time(self) -> None:
        def serve(worker: SuiteWorker, benchmark: Benchmark, cores: Sequence[int]) -> None:
            limit_s = COMPILE_LIMIT_S if benchmark.args.compiled else LIMIT_S
            answer = worker.run(self._request(benchmark), limit_s + 2 * self.settings.min_run_time_s)
            kept = {name: answer[name] for name in ("times_s", "runs_per_sample", "failure") if name in answer}
            kept["times_s"] = tuple(kept.get("times_s", ()))
            self._keep(benchmark, cores=tuple(cores), **kept)
            done(1)

        wanted = [benchmark for benchmark in self._measurable() if not self._result(benchmark).times_s]
        done = self._progress("taking wall times", len(wanted))
        pool.serve_all("time", _by_threads(wanted), self.jobs, serve, self._failed("failure", done))

    def _count(self, *, recount: bool) -> None:
        def serve(worker: SuiteWorker, benchmark: Benchmark, _cores: Sequence[int]) -> None:
            answer = worker.run(self._request(benchmark), COUNT_LIMIT_S)
            if "failure" in answer:
                self._keep(benchmark, uncounted=answer["failure"])
            else:
                try:
                    found = counts.instructions_of(worker.profiles(answer))
                except (OSError, ProfileError) as error:
                    raise WorkerDied(f"wrote no count: {error}") from error
                counts.save(benchmark, self.settings, found)
                self._keep(benchmark, instructions=found, number=self.settings.number, cached=False, uncounted="")
            done(1)

        for benchmark in self._measurable():
            if benchmark.args.compiled:
                self._keep(benchmark, uncounted=NOT_COUNTED)
        wanted = [
            benchmark
            for benchmark in self._measurable()
            if not self._result(benchmark).instructions
            and not benchmark.args.compiled
            and (recount or not self._from_cache(benchmark))
        ]
        if missing := tools.lacking():
            for benchmark in wanted:
                self._keep(benchmark, uncounted=missing)
            return
        done = self._progress("counting instructions", len(wanted))
        # One core is enough: valgrind runs one thread at a time, and the core does not change a count.
        pool.serve_all("count", {1: wanted} if wanted else {}, self.jobs, serve, self._failed("uncounted", done))

    def _from_cache(self, benchmark: Benchmark) -> bool:
        found = counts.load(benchmark, self.settings)
        if found is not None:
            self._keep(benchmark, instructions=found, number=self.settings.number, cached=True, uncounted="")
        return found is not None

    def _request(self, benchmark: Benchmark) -> dict[str, Any]:
        request = {"library": "", **asdict(self.settings), **benchmark.code}
        if benchmark.is_cpp:
            request |= {"library": str(cpp.library_of(benchmark)), "function": cpp.function_name(benchmark)}
        return request

    def _failed(self, field: str, done: Callable[[int], None]) -> Callable[[Benchmark, str], None]:
        def keep(benchmark: Benchmark, why: str) -> None:
            self._keep(benchmark, **{field: why})
            done(1)

        return keep

    def _progress(self, what: str, total: int) -> Callable[[int], None]:
        self.watch(what, total, 0)
        return lambda more: self.watch(what, total, more)


def lacking(benchmark: Benchmark) -> str:
    """Return a text that names what torch, Python or the machine lacks for a benchmark, or ""."""
    if benchmark.args.scripted and not torchscript_support().runs:
        return torchscript_support().reason
    return cannot_compile() if benchmark.args.compiled else ""


def measure(
    benchmarks: Sequence[Benchmark],
    out: Path,
    settings: SuiteSettings,
    *,
    fresh: bool = False,
    count: bool = True,
    recount: bool = False,
    jobs: int | None = None,
    watch: Watch = lambda *_: None,
) -> Suite:
    """Run benchmarks, write the results to the file `out`, and return them.

    Benchmarks that a complete or stopped run has already measured for `out` are not measured again, unless `fresh` is
    true.
    """
    if not out.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} for {out.name}; create it first.")
    known = {} if fresh else earlier_results(out, Environment.capture(), settings)
    run = SuiteRun(benchmarks, settings, out, known, jobs or os.cpu_count() or 1, watch)
    return run.go(count=count, recount=recount)


def _by_threads(benchmarks: Iterable[Benchmark]) -> dict[int, list[Benchmark]]:
    groups: dict[int, list[Benchmark]] = {}
    for benchmark in benchmarks:
        groups.setdefault(benchmark.args.num_threads, []).append(benchmark)
    return groups
