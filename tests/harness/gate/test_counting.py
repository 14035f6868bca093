"""Counted costs of a call: its instructions, and the most memory that it needs at one time."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from git_projects import commit, write
from side_process import Side

from harness.errors import MachineError
from harness.gate import counting, worker
from harness.gate.counting import CountedCall
from harness.gate.machine_readable import from_json
from harness.gate.outcomes import Change
from harness.gate.settings import GateCost
from harness.paired.blocks import timing_loop
from harness.processes.launcher import KIT

TESTS = """\
import itertools
import threading

def work(n):  # allocates nothing: the memory of a new number costs more or less, depending on what is free
    for _ in itertools.repeat(None, n):
        pass

def in_a_thread(n):
    thread = threading.Thread(target=work, args=(n,))
    thread.start()
    thread.join()

def test_short(benchmark):
    benchmark(work, 1_000)

def test_long(benchmark):
    benchmark(work, 101_000)

def test_thread(benchmark):
    benchmark(in_a_thread, 101_000)

def test_prepared(benchmark):
    benchmark.pedantic(work, setup=lambda: work(10_000) or ((101_000,), {}), rounds=3)

def test_fails(benchmark):
    benchmark(work, 10)
    assert not work
"""


def memory_of(call: Callable[[], object], blocks: int = 4) -> list[float]:
    """Return the memory of a call, counted several times, without the first count."""
    counted = CountedCall(lambda clock: timing_loop(call, clock=clock))
    try:
        return [float(str(counted.block(GateCost.MEMORY, 1)["counted"])) for _ in range(blocks)][1:]
    finally:
        counted.close()


@pytest.mark.parametrize(
    ("call", "bytes_"),
    [
        (lambda: bytearray(1_000_000), 1_000_000),
        (lambda: len(bytearray(1_000_000)) + len(bytearray(1_000_000)), 1_000_000),
        (lambda: len(bytearray(1_000_000) + bytearray(1_000_000)), 4_000_000),
        (lambda: np.empty(125_000), 1_000_000),
        (lambda: [object() for _ in range(10_000)], 245_176),
    ],
)
def test_the_memory_of_a_call_is_its_peak_with_the_arrays_of_numpy(call: Callable[[], object], bytes_: float) -> None:
    found = memory_of(call)
    assert found == pytest.approx([bytes_] * len(found), rel=0.01)


def test_a_call_that_allocates_nothing_needs_less_than_the_least_memory() -> None:
    assert max(memory_of(lambda: None)) < 1024
    assert GateCost.MEMORY.ratio(0, 0) == 1
    assert GateCost.MEMORY.ratio(0, 48) == 1
    assert GateCost.MEMORY.ratio(2048, 0) == 2


def test_memory_that_a_call_frees_before_it_allocates_does_not_count() -> None:
    kept: list[object] = []

    def replace() -> None:
        kept.clear()
        kept.append(bytearray(1_000_000))

    def renew() -> None:
        kept[:] = [bytearray(1_000_000)]

    assert max(memory_of(replace)) < 1024
    assert min(memory_of(renew)) > 999_000


def test_garbage_is_collected_during_a_call_as_without_the_counting() -> None:
    def cycles() -> None:
        for _ in range(100):
            for _ in range(1_000):
                cycle: list[object] = []
                cycle.append(cycle)

    assert max(memory_of(cycles)) < 1_000_000


def test_memory_of_other_threads_counts() -> None:
    def in_a_thread() -> None:
        thread = threading.Thread(target=lambda: bytearray(1_000_000))
        thread.start()
        thread.join()

    assert memory_of(in_a_thread)[-1] == pytest.approx(1_000_000, rel=0.05)


def test_a_process_that_cannot_count_instructions_says_so() -> None:
    with pytest.raises(MachineError, match=r"does not run under valgrind|only on Linux"):
        counting.InstructionCounter()


def test_if_valgrind_is_missing_the_command_that_installs_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(counting.platform, "machine", lambda: "x86_64")
    assert counting.lacking(GateCost.INSTRUCTIONS).startswith("valgrind is missing: ")
    assert counting.lacking(GateCost.MEMORY) == ""
    monkeypatch.setattr(counting.platform, "machine", lambda: "riscv64")
    assert "only on Linux, on x86-64" in counting.lacking(GateCost.INSTRUCTIONS)


@pytest.mark.long
@pytest.mark.valgrind
def test_a_worker_counts_the_instructions_of_its_calls_alone(tmp_path: Path) -> None:
    (tmp_path / "test_work.py").write_text(TESTS, encoding="utf-8")
    side = Side(tmp_path, "test_work.py", before=counting.VALGRIND)
    counts = {}
    with side.child:
        for name in ("short", "long", "thread", "prepared"):
            side.start(f"test_work.py::test_{name}")
            found = [side.ask(worker.COUNT, cost="INSTRUCTIONS", calls=calls) for calls in (1, 1, 1, 3)]
            counts[name] = [float(answer["counted"]) for _, answer in found][1:]
            side.end()
        assert not list(tmp_path.glob(f".duel-counts.{side.child.pid}.*"))
    short, long = counts["short"], counts["long"]
    assert short[1] == pytest.approx(short[0], rel=0.02)
    assert [each[-1] for each in counts.values()] == pytest.approx([3 * each[-2] for each in counts.values()], rel=0.02)
    of_one_pass = (long[1] - short[1]) / 100_000
    assert 20 < of_one_pass < 400
    assert counts["prepared"] == pytest.approx(long, rel=0.02)
    assert counts["thread"] == pytest.approx(long, rel=0.05)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.program("git")
@pytest.mark.parametrize("cost", [pytest.param("instructions", marks=pytest.mark.valgrind), "memory"])
def test_a_run_finds_a_higher_cost_and_none_in_equal_code(tmp_path: Path, cost: str) -> None:
    tests = "import module\n" + "".join(
        f"def test_{name}(benchmark): benchmark(module.{name})\n" for name in ("work", "same", "nothing")
    )
    source = "def work(): return [str(n) for n in range({})]\ndef same(): return work_of(500)\ndef nothing(): pass\n"
    source += "def work_of(n): return {{str(i) for i in range(n)}}\n"
    project = tmp_path / "project"
    commit(project, {"module.py": source.format(300), "test_work.py": tests})
    write(project, {"module.py": source.format(330)})
    options = ("-p", "harness.gate.plugin", "-p", "no:cacheprovider", "--duel", "main", "--duel-cost", cost)
    environment = {**os.environ, "PYTHONPATH": str(KIT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", *options, "--duel-json", str(tmp_path / "run.json")],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    run = from_json((tmp_path / "run.json").read_text(encoding="utf-8"))
    changes = {one.name.rpartition("_")[2]: one.change for one in run.outcomes}
    assert [one.verdict for one in run.outcomes] == ["slower", "same", "same"]
    assert all(change is not None for change in changes.values())
    if cost == "memory":
        assert changes["same"] == changes["nothing"] == Change(0, 0, 0)
    assert not run.is_void
