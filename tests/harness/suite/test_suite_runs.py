"""The file of a suite's run, workers on their own cores, and several C++ benchmarks compiled in one library."""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock
from unittest.mock import Mock

import pytest
from torch.utils.benchmark import Language

from harness.errors import UsageError
from harness.machine import lanes
from harness.machine.environment import Environment
from harness.storage.disk_cache import FOLDER_VARIABLE
from harness.suite import TimerArgs, cpp, pool, runner, worker
from harness.suite.expand import Benchmark
from harness.suite.pool import SuiteWorker
from harness.suite.results import Result, Suite, SuiteComparison, SuiteSettings, earlier_results, load, save

HERE = Environment.capture(ask_cuda=False)
SETTINGS = SuiteSettings()
WORKS = tuple(Benchmark((name,), "", "", TimerArgs(name)) for name in "abc")


def result(work: Benchmark, **found: Any) -> Result:
    return replace(Result.of(work), **found)


def test_load_returns_what_save_wrote(tmp_path: Path) -> None:
    found = result(WORKS[0], times_s=(1e-6, 2e-6), cores=(1,), instructions=(500, 400, 402), number=100)
    save(whole := Suite(HERE, SETTINGS, (found,)), tmp_path / "out.json")
    assert load(tmp_path / "out.json") == whole
    assert found.instructions_per_run == 4.01  # without the first count
    assert result(WORKS[0], instructions=(900,), number=100).instructions_per_run == 9
    assert result(WORKS[0]).instructions_per_run is None
    for text in ("", "[]", '{"environment": {}}'):
        (tmp_path / "out.json").write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match="name another file"):
            load(tmp_path / "out.json")


def test_stored_counts_are_read_again_and_damaged_ones_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    runner.save_counts(WORKS[0], SETTINGS, (900, 400))
    assert runner.load_counts(WORKS[0], SETTINGS) == (900, 400)
    (file,) = (tmp_path / runner.KIND).iterdir()
    for text in ("", "[]", "7", "{}"):
        file.write_text(text, encoding="utf-8")
        assert runner.load_counts(WORKS[0], SETTINGS) is None


def test_a_run_does_not_continue_with_other_settings_or_on_another_machine(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    save(Suite(HERE, SETTINGS, ()), out)
    assert earlier_results(out, HERE, SETTINGS) == {}
    with pytest.raises(UsageError, match="settings"):
        earlier_results(out, HERE, SuiteSettings(number=7))
    with pytest.raises(UsageError, match="python: 2"):
        earlier_results(out, replace(HERE, python="2.7"), SETTINGS)


def test_a_run_continues_unless_it_is_fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []
    out = tmp_path / "out.json"

    class Instant:
        cores = (0,)

        def run(self, request: Mapping[str, Any], _: float) -> Mapping[str, Any]:
            measured.append(request["stmt"])
            if measured == ["a", "b"]:
                raise KeyboardInterrupt
            return {"times_s": [1.0 + len(measured)], "runs_per_sample": 1}

    def serve_all(_mode: str, works: Sequence[Benchmark], _jobs: int, serve: Callable[[Any, Benchmark], None]) -> None:
        for work in works:
            serve(Instant(), work)

    monkeypatch.setattr(pool, "serve_all", serve_all)
    with pytest.raises(KeyboardInterrupt):
        runner.measure(WORKS[:2], out, SETTINGS, count=False)
    assert [each.times_s for each in load(out).results] == [(2.0,), ()]
    runner.measure(WORKS[:2], out, SETTINGS, count=False)
    runner.measure(WORKS, out, SETTINGS, count=False)
    assert measured == ["a", "b", "b", "c"]
    assert [each.times_s for each in load(out).results] == [(2.0,), (4.0,), (5.0,)]
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    runner.measure(WORKS, out, SETTINGS, count=False, fresh=True)
    assert measured[4:] == ["a", "b", "c"]


def test_two_runs_are_matched_by_name_and_kind() -> None:
    def run(counts: Mapping[str, int], seconds: float) -> Suite:
        works = [Benchmark((name,), "", "", TimerArgs(f"{name} in {seconds}")) for name in counts]
        found = zip(works, counts.values(), strict=True)
        return Suite(
            HERE, SETTINGS, tuple(result(w, times_s=(seconds,), instructions=(n,), number=1) for w, n in found)
        )

    found = SuiteComparison.of(run({"a": 1000, "b": 500, "c": 1}, 1.0), run({"a": 1001, "b": 600, "d": 1}, 1.5))
    assert [round(each.count_change or 0, 6) for each in found.changes] == [0.001, 0.2]
    assert [each.time_change for each in found.changes] == [0.5, 0.5]
    assert [each.label for each in (*found.only_first, *found.only_second)] == [("c",), ("d",)]
    assert "instructions: 1 of 2 within 0.5 %; the median change is 0.1 %, the largest 20 %." in found.summary()
    timed = run({"a": 0}, 1.0)
    found = SuiteComparison.of(timed, replace(timed, environment=replace(HERE, torch="1.0")))
    assert f"The runs differ in torch: {HERE.torch}, 1.0." in found.summary()


class Cores:
    """Fake workers that record the cores of each, and detect two workers on one core."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, physical: int) -> None:
        self.busy: Counter[int] = Counter()
        self.clashes = 0
        self.served: dict[str, int] = {}
        self._lock = threading.Lock()
        monkeypatch.setattr(pool, "SuiteWorker", lambda _, cores: nullcontext(Mock(cores=cores)))
        monkeypatch.setattr(lanes, "_cores", lambda: tuple(range(physical)))

    def serve(self, worker: SuiteWorker, benchmark: Benchmark) -> None:
        with self._lock:
            self.clashes += any(self.busy[core] for core in worker.cores)
            self.busy.update(worker.cores)
            self.served[benchmark.args.stmt] = len(set(worker.cores))
        time.sleep(0.002)
        with self._lock:
            self.busy.subtract(worker.cores)


def test_a_core_runs_one_benchmark_and_none_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    widths = dict.fromkeys("abcd", 1) | dict.fromkeys("ef", 2) | dict.fromkeys("gh", 4)
    works = [Benchmark((name,), "", "", TimerArgs(name, num_threads=width)) for name, width in widths.items()]
    for jobs, physical in [(1, 1), (8, 1), (2, 2), (8, 3), (2, 8)]:
        cores = Cores(monkeypatch, physical)
        pool.serve_all("time", works, jobs, cores.serve)
        assert cores.clashes == 0
        assert cores.served == {name: min(width, physical) for name, width in widths.items()}
    pool.serve_all("count", works, 1, cores.serve)
    assert set(cores.served.values()) == {1}
    started: list[Benchmark] = []

    def fail(_: SuiteWorker, benchmark: Benchmark) -> None:
        started.append(benchmark)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pool.serve_all("count", works, 1, fail)
    assert len(started) == 1


def test_only_a_worker_that_counts_switches_valgrind_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker.torch, "set_num_threads", lambda _: None)
    monkeypatch.setattr(worker, "gc", Mock())
    monkeypatch.setattr(worker, "stdio_channel", lambda: Mock(send=Mock(side_effect=EOFError)))
    for mode, switches in (("time", 0), ("count", 1)):
        with mock.patch.object(worker.subprocess, "run") as run, pytest.raises(EOFError):
            worker.main(mode)
        assert run.call_count == switches


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))


def work(stmt: str, *, name: str = "a", global_setup: str = "", threads: int = 1) -> Benchmark:
    return Benchmark((name,), "Eager", "Forward", TimerArgs(stmt, "", global_setup, threads, Language.CPP))


class Compiler:
    """A fake compiler that records its sources, and refuses the word nonsense."""

    def __init__(self) -> None:
        self.sources: list[str] = []

    def __call__(self, source: str, library: Path) -> str:
        self.sources.append(source)
        before, found, _ = source.partition("nonsense")
        if found:
            return f"{re.findall('benchmark_[0-9a-f]+', before)[-1]}.stmt:1: error: nonsense"
        library.write_text("library", encoding="utf-8")
        return ""

    def build(
        self, works: list[Benchmark], jobs: int = 1, done: Callable[[int], None] = lambda _: None
    ) -> dict[Benchmark, str]:
        with mock.patch.object(cpp, "compile_library", self):
            return cpp.build(works, jobs, done)

    @property
    def sizes(self) -> list[int]:
        return [source.count('extern "C"') for source in self.sources]


def test_benchmarks_share_a_library_unless_they_are_too_many_or_several_cores_compile() -> None:
    for number, jobs, sizes in [(cpp.BATCH, 1, [16]), (cpp.BATCH + 2, 1, [9, 9]), (8, 2, [4, 4]), (7, 2, [7])]:
        compiler, works = Compiler(), [work(f"x + {n + 100 * number};") for n in range(number)]
        assert compiler.build(works, jobs) == {}
        assert compiler.build([*works, work(works[0].args.stmt, name="b")], jobs) == {}, "the same code only once"
        assert compiler.sizes == sizes
        assert len({cpp.library_of(each) for each in works if cpp.library_of(each).exists()}) == len(works)


def test_a_benchmark_that_does_not_compile_is_left_out_and_reported() -> None:
    works = [work(f"x + {n};") for n in range(4)] + [work("nonsense;")]
    done: list[int] = []
    ((failed, reason),) = Compiler().build(works, 1, done.append).items()
    assert (failed, "error: nonsense" in reason) == (works[-1], True)
    assert [cpp.library_of(each).exists() for each in works] == [True] * 4 + [False]
    assert sum(done) == len(works)


def test_a_global_setup_comes_before_all_functions_and_its_code_stays_with_its_benchmarks() -> None:
    compiler, own = Compiler(), "int f() { return 1; }"
    setups = {"x;": "#include <a>\n", "y;": "#include <b>", "z;": "", "f();": own}
    compiler.build([work(stmt, global_setup=text) for stmt, text in setups.items()])
    together, apart = compiler.sources
    assert compiler.sizes == [3, 1]
    assert together.index("#include <a>") < together.index("#include <b>") < together.index('extern "C"')
    assert own not in together
    assert apart.index(own) < apart.index('extern "C"')
