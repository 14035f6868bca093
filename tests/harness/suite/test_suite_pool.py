"""Workers on their own cores. Fake workers test the assignment of cores; real ones run bad benchmarks."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.machine import lanes
from harness.suite import GroupedSetup, GroupedStmts, TimerArgs, flatten, materialize, pool, runner
from harness.suite.benchmark import Benchmark
from harness.suite.pool import SuiteWorker, WorkerDied
from harness.suite.results import SuiteSettings, load
from harness.suite.types import Definition


class Cores:
    """Fake workers that record the cores of each, and detect two workers on one core."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, physical: int) -> None:
        self.busy: dict[int, int] = {}
        self.clashes = 0
        self.served: list[tuple[Any, tuple[int, ...]]] = []
        self.started = 0
        self._lock = threading.Lock()
        monkeypatch.setattr(pool, "SuiteWorker", self._worker)
        monkeypatch.setattr(lanes, "_candidates", lambda _: tuple(range(physical)))

    def _worker(self, _mode: str, cores: Sequence[int]) -> Any:
        self.started += 1
        return type("One", (), {"cores": cores, "close": lambda _: None})()

    def serve(self, _: SuiteWorker, item: Any, cores: Sequence[int]) -> None:
        with self._lock:
            self.clashes += any(self.busy.get(core) for core in cores)
            self.busy |= dict.fromkeys(cores, 1)
            self.served.append((item, tuple(cores)))
        time.sleep(0.002)
        with self._lock:
            self.busy |= dict.fromkeys(cores, 0)
        if item == "deadly":
            raise WorkerDied("it was time")


@pytest.mark.parametrize(("jobs", "physical"), [(1, 1), (8, 1), (2, 2), (8, 3), (2, 8)])
def test_no_core_runs_two_benchmarks_at_a_time(monkeypatch: pytest.MonkeyPatch, jobs: int, physical: int) -> None:
    cores = Cores(monkeypatch, physical)
    items = {1: ["a", "b", "c", "d"], 2: ["e", "f"], 4: ["g", "h"]}
    pool.serve_all("time", items, jobs, cores.serve, lambda *_: None)
    assert cores.clashes == 0
    assert sorted(item for item, _ in cores.served) == list("abcdefgh")
    wide = {item: len(set(held)) for item, held in cores.served}
    assert wide == {item: min(width, physical) for width, each in items.items() for item in each}


def test_a_worker_that_dies_fails_one_benchmark_and_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    cores, failed = Cores(monkeypatch, 1), []
    pool.serve_all("time", {1: ["a", "deadly", "b"]}, 1, cores.serve, lambda *told: failed.append(told))
    assert [item for item, _ in cores.served] == ["a", "deadly", "b"]
    assert failed == [("deadly", "it was time")]
    assert cores.started == 2


def test_after_an_internal_error_no_further_benchmark_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    cores = Cores(monkeypatch, 1)

    def serve(worker: SuiteWorker, item: Any, held: Sequence[int]) -> None:
        cores.serve(worker, item, held)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pool.serve_all("time", {1: ["a", "b"], 2: []}, 1, serve, lambda *_: None)
    assert [item for item, _ in cores.served] == ["a"]


BAD: Definition = {
    "sound": GroupedStmts("x + x", setup=GroupedSetup("x = torch.ones(2)"), num_threads=(1, 2)),
    "chatty": TimerArgs(
        f"x = 1  # {'-' * 200_000}", "import sys; sys.stderr.write('-' * 1_000_000); print('-' * 1_000_000)"
    ),
    "raises": TimerArgs("unheard_of"),
    "crashes": TimerArgs("os.abort()", "import os"),
    "kills its worker": TimerArgs("os.kill(os.getppid(), 9); time.sleep(9)", "import os, time"),
    "hangs": TimerArgs("time.sleep(60)", "import time"),
    "last": TimerArgs("sum(range(3))"),
}


def test_bad_benchmarks_fail_with_their_reasons_and_do_not_disturb_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(lanes.DIRECTORY_VARIABLE, str(tmp_path / "lanes"))
    monkeypatch.setattr(runner, "LIMIT_S", 3.0)
    works = Benchmark.all_of(materialize(flatten(BAD)))
    runner.measure(works, tmp_path / "out.json", SuiteSettings(min_run_time_s=0.01), count=False, jobs=1)
    bad = {f"{each.label[0]} {each.num_threads}": each for each in load(tmp_path / "out.json").results}
    assert [name for name, each in bad.items() if each.times_s] == ["sound 1", "sound 2", "chatty 1", "last 1"]
    assert bad["chatty 1"].failure == ""  # it prints more than a pipe holds
    for name, why in {
        "raises 1": "NameError: name 'unheard_of' is not defined",
        "crashes 1": "ended its process with signal 6",
        "kills its worker 1": "ended its worker",
        "hangs 1": "gave no answer within 3.02 s",
    }.items():
        assert bad[name].failure.startswith(why)
    assert len(bad["sound 2"].cores) == min(2, lanes.physical_cores())
    assert len(bad["sound 1"].cores) == 1
