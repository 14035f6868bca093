"""The process of one side: it stops at the timed call of a test, times blocks of calls, and lets the test end."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
from side_process import Side

from harness.gate import worker
from harness.gate.import_roots import TREE_VARIABLE
from harness.processes.channel import Closed

TESTS = """\
import asyncio, gc, os, subprocess, sys, threading, time
import pytest

seen = []

@pytest.fixture(scope="session")
def database():
    seen.append("open")
    yield seen
    seen.append("closed")

@pytest.fixture(params=[10, 20])
def words(request):
    return ["b", "a"] * request.param

def busy(seconds=0.002):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass

@pytest.mark.duel(allow=0.05)
def test_marked(words):
    sorted(words)

@pytest.mark.benchmark
def test_of_codspeed(words):
    sorted(words)

@pytest.mark.duel
async def test_awaited():
    await asyncio.sleep(0)
    seen.append(id(asyncio.get_running_loop()))

def test_same_loop(benchmark):
    benchmark.extra_info["loops"] = benchmark(lambda: len({each for each in seen if isinstance(each, int)}))

@pytest.mark.duel
class TestMethods:
    def test_method(self, database):
        len(database)

def test_one(benchmark, database):
    benchmark.extra_info["seen"] = benchmark(lambda: list(map(str, database)))

def test_other(benchmark, database):
    benchmark.extra_info["seen"] = benchmark(lambda: list(map(str, database)))

def test_fixture(benchmark, capsys):
    collecting = []
    @benchmark
    def result():
        collecting.append(gc.isenabled())
        return sorted("ba")
    assert result == ["a", "b"]
    benchmark.extra_info |= {"collecting": any(collecting[1:]), "afterwards": gc.isenabled(), "object": benchmark}

def test_wrong(benchmark):
    assert benchmark(len, "ab") == 3

def test_twice(benchmark):
    benchmark(len, "ab")
    benchmark(len, "ab")

def test_generator(benchmark):
    benchmark(lambda: (letter for letter in "ab"))

async def coroutine(letter):
    pass

def test_coroutine(benchmark):
    benchmark(coroutine, "a")

def test_skipped(benchmark):
    pytest.skip("it has no data")

@pytest.mark.xfail
def test_expected(benchmark):
    benchmark(int, "a")

def test_error(benchmark):
    benchmark(int, "a")

@pytest.fixture
def broken():
    raise OSError("no space")

def test_setup(benchmark, broken):
    benchmark(int)

def test_later(benchmark):
    calls = iter(range(9))
    benchmark.pedantic(next, args=(calls,), setup=lambda: None)

def test_unused(benchmark):
    pass

def test_caught(benchmark):
    calls = iter(range(9))
    with pytest.raises(StopIteration):
        benchmark.pedantic(next, args=(calls,), setup=lambda: None)

def test_leak(benchmark):
    sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
    processes = [subprocess.Popen(sleeping)]
    processes[0].returncode = 0  # so that its destructor does not warn
    benchmark.extra_info["pid"] = benchmark(lambda: processes[0].pid)

def test_thread(benchmark):
    def call():
        thread = threading.Thread(target=busy)
        thread.start()
        thread.join()
    benchmark(call)

def child():
    code = "import time\\nwhile time.process_time() < 0.05: pass"
    subprocess.run([sys.executable, "-S", "-E", "-c", code], check=True)

def test_child(benchmark):
    benchmark(child)

def test_child_of_setup(benchmark):
    benchmark.pedantic(int, setup=child, rounds=3)

def test_prints(benchmark):
    benchmark(lambda: print("printed by a call"))

def test_exits(benchmark):
    benchmark(lambda: None)
    pytest.exit("enough")

def test_crash(benchmark):
    benchmark(lambda: None)
    print("a last line", flush=True)
    os.abort()

def test_processes(benchmark):
    used = set()
    benchmark(lambda: used.add(os.getpid()))
    benchmark.extra_info["used"] = list(used)

def test_raises_in_a_fork(benchmark):
    first = os.getpid()
    benchmark(lambda: [0][os.getpid() - first])

def test_crashes_in_a_fork(benchmark):
    first = os.getpid()
    benchmark(lambda: os.getpid() == first or os.abort())

@pytest.fixture(params=["file", "thread"])
def open_until_the_end(request, tmp_path):
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    with open(tmp_path / "file", "w") as file:
        file.close() if request.param == "thread" else done.set()
        thread.start()
        yield
        done.set()
    thread.join()

def test_opened(benchmark, open_until_the_end):
    benchmark(int)

def test_ordinary():
    pass
"""

INI = """\
[pytest]
addopts = --strict-markers -m 'not duel' -n 2 --duel main
filterwarnings = error
timeout = 1
"""


def named(test: str) -> str:
    return f"test_project.py::{test}"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_project.py").write_text(TESTS)
    (folder / "test_broken.py").write_text("import not_there\ndef test_it(benchmark): pass\n")
    (folder / "pytest.ini").write_text(
        "[pytest]\naddopts = --strict-markers -m 'not duel' -n 2\nfilterwarnings = error\n"
    )
    return folder


@pytest.fixture(scope="module")
def side(project: Path) -> Iterator[Side]:
    found = Side(project)
    with found.child:
        yield found


def test_a_worker_finds_the_benchmarks_although_the_configuration_leaves_them_out(side: Side) -> None:
    found = side.collected["benchmarks"]
    expected = ("test_marked[10]", "TestMethods::test_method", "test_fixture", "test_of_codspeed[10]")
    assert {*map(named, expected)} < set(found)
    assert named("test_ordinary") not in found


def test_a_file_that_cannot_be_imported_is_reported_for_its_tests(side: Side) -> None:
    answer = side.fail(item="test_broken.py::test_it")
    assert answer["kind"] == "import"
    assert answer["message"] == "ModuleNotFoundError: No module named 'not_there'"
    assert side.fail(item=named("test_none"))["kind"] == "missing"


@pytest.mark.parametrize(
    "test", ["test_marked[20]", "TestMethods::test_method", "test_awaited", "test_fixture", "test_of_codspeed[10]"]
)
def test_a_block_of_calls_is_timed_with_both_clocks(side: Side, test: str) -> None:
    usual = side.start(named(test))
    assert usual["cpu_s"] > 0
    assert usual["whole_s"] == usual["wall_s"]
    assert usual["on_gpu"] is False
    assert side.ask(worker.SHUFFLE, seed=1, forks=False, populates=False) == (worker.DONE, {})
    times = side.block(100)
    side.end()
    assert times["cpu_s"] > usual["cpu_s"]
    assert times["wall_s"] > 0
    assert times["waited_s"] >= 0  # it may be more than the wall time, because it is read before and after the block


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the threads and files of a process")
class TestForks:
    @pytest.fixture
    def side(self, project: Path) -> Iterator[Side]:
        found = Side(project, "test_project.py")
        with found.child:
            yield found

    def test_calls_in_a_fork_leave_no_trace_in_the_process(self, side: Side) -> None:
        assert side.start(named("test_processes"))["can_fork"]
        for seed in range(2):
            assert side.ask(worker.SHUFFLE, seed=seed, forks=True, populates=seed == 1) == (worker.DONE, {})
            side.block(100)
            assert side.ask(worker.LEAVE) == (worker.DONE, {})
        assert side.end()["extra_info"] == {"used": [side.child.pid]}

    @pytest.mark.parametrize("opened", ["file", "thread"])
    def test_a_call_with_an_open_file_or_another_thread_cannot_fork(self, side: Side, opened: str) -> None:
        assert not side.start(named(f"test_opened[{opened}]"))["can_fork"]

    def test_a_call_that_raises_in_a_fork_ends_the_test(self, side: Side) -> None:
        side.start(named("test_raises_in_a_fork"))
        side.ask(worker.SHUFFLE, seed=1, forks=True, populates=False)
        assert side.fail(worker.BLOCK, calls=1)["message"].startswith("IndexError")
        side.start(named("test_processes"))

    def test_a_crash_in_a_fork_ends_the_process_in_the_same_way(self, side: Side) -> None:
        side.start(named("test_crashes_in_a_fork"))
        side.ask(worker.SHUFFLE, seed=1, forks=True, populates=False)
        side.child.send(worker.BLOCK, {"calls": 1})
        with pytest.raises(Closed):
            side.child.receive(60)
        assert side.child.exit_status() == -signal.SIGABRT


def test_asynchronous_tests_are_awaited_in_the_same_event_loop(side: Side) -> None:
    for _ in range(2):
        side.start(named("test_awaited"))
        side.block(3)
        side.end()
    side.start(named("test_same_loop"))
    assert side.end()["extra_info"] == {"loops": 1}


def test_fixtures_that_the_next_test_shares_stay(side: Side) -> None:
    side.start(named("test_one"), named("test_other"))
    first = side.end()["extra_info"]["seen"]
    side.start(named("test_other"))
    assert side.end()["extra_info"]["seen"] == first
    side.start(named("test_one"))
    assert side.end()["extra_info"]["seen"][-2:] == ["closed", "open"]


def test_garbage_is_not_collected_during_the_calls(side: Side) -> None:
    side.start(named("test_fixture"))
    answer = side.end()
    assert not answer["extra_info"]["collecting"]
    assert answer["extra_info"]["afterwards"]


@pytest.mark.parametrize(
    ("test", "kind", "message"),
    [
        ("test_generator", "unfinished", "`f()` returns an iterator (generator), so its work has not run yet. "),
        ("test_coroutine", "unfinished", "`coroutine(*args)` returns a coroutine, so its work has not run yet. "),
        ("test_skipped", "skipped", "it has no data"),
        ("test_expected", "skipped", "ValueError: invalid literal"),
        ("test_error", "raised", "ValueError: invalid literal"),
        ("test_setup", "raised", "OSError: no space"),
        ("test_unused", "untimed", "The test ended without a timed call."),
    ],
)
def test_a_test_that_does_not_reach_its_timed_call_is_a_failure(side: Side, test: str, kind: str, message: str) -> None:
    answer = side.fail(item=named(test))
    assert answer["kind"] == kind
    assert answer["message"].startswith(message)


@pytest.mark.parametrize(
    ("test", "message"), [("test_wrong", "AssertionError: assert 2 == 3"), ("test_twice", "FixtureAlreadyUsedError")]
)
def test_a_test_that_fails_after_its_blocks_is_a_failure(side: Side, test: str, message: str) -> None:
    side.start(named(test))
    side.block(2)
    answer = side.fail(worker.END)
    assert answer["kind"] == "raised"
    assert answer["message"].startswith(message)
    assert 'benchmark(len, "ab")' in answer["traceback"]


@pytest.mark.parametrize(("test", "kind"), [("test_later", "raised"), ("test_caught", "untimed")])
def test_a_call_that_raises_in_a_block_ends_the_test(side: Side, test: str, kind: str) -> None:
    side.start(named(test))
    assert side.fail(worker.BLOCK, calls=20)["kind"] == kind
    side.start(named("test_fixture"))  # the next test is not affected
    side.end()


def test_a_child_process_that_a_test_leaves_is_reported_and_killed(side: Side) -> None:
    before = set(psutil.Process(side.child.pid).children())
    side.start(named("test_leak"))
    (leaked,) = set(psutil.Process(side.child.pid).children()) - before
    answer = side.fail(worker.END)
    assert answer["kind"] == "leaked"
    assert str(leaked.pid) in answer["message"]
    assert not leaked.is_running()


@pytest.mark.parametrize(("test", "used_s"), [("test_thread", 0.002), ("test_child", 0.05)])
def test_cpu_time_of_other_threads_and_of_children_counts(side: Side, test: str, used_s: float) -> None:
    side.start(named(test))
    assert side.block(1)["cpu_s"] >= used_s
    side.end()


def test_a_setup_before_each_call_is_only_part_of_the_whole_time(side: Side) -> None:
    assert side.start(named("test_child_of_setup"))["whole_s"] >= 0.05
    assert side.block(1)["cpu_s"] < 0.05
    side.end()


def test_printed_text_goes_to_the_log(side: Side) -> None:
    side.start(named("test_prints"))
    side.end()
    assert "printed by a call" in side.child.log_lines()


def test_the_fixture_works_without_pytest_benchmark_and_the_end_of_pytest_is_reported(project: Path) -> None:
    found = Side(project, "-p", "no:benchmark", "test_project.py")
    with found.child:
        found.start(named("test_exits"))
        assert found.fail(worker.END)["kind"] == "ended"


def test_a_crash_closes_the_connection_and_leaves_the_printed_text(project: Path) -> None:
    found = Side(project, "test_project.py")
    with found.child:
        found.start(named("test_crash"))
        found.child.send(worker.END)
        with pytest.raises(Closed):
            found.child.receive(60)
        assert found.child.exit_status() == -signal.SIGABRT
        assert any("a last line" in line for line in found.child.log_lines())


def test_a_conftest_that_cannot_be_imported_is_reported(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import not_there")
    found = Side(tmp_path)
    with found.child:
        assert found.kind == worker.FAILED
        assert found.collected["kind"] == "import"
        assert found.collected["message"] == "ModuleNotFoundError: No module named 'not_there'"


def test_a_module_from_another_tree_is_named_instead_of_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(benchmark): benchmark(len, ())")
    monkeypatch.setenv(TREE_VARIABLE, f"{tmp_path / 'tree'}{os.pathsep}{tmp_path}")
    side = Side(tmp_path)
    with side.child:
        failure = side.fail(item="test_it.py::test_it")
        assert failure["kind"] == "foreign"
        assert str(tmp_path / "test_it.py") in failure["message"]
