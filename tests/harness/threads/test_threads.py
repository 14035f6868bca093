"""Builds of Python are found, servers run functions on threads, ways are compared, and accesses are recorded."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package
import pytest

from harness.errors import MachineError
from harness.threads import builds, scaling
from harness.threads.builds import PythonBuild
from harness.threads.scaling import ScalingTurn, can_limit, limited_to, serve, undisturbed

GIL = getattr(sys, "_is_gil_enabled", lambda: True)()
if sys.platform == "win32":
    pytest.skip("these tests write shell scripts in place of interpreters", allow_module_level=True)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is the whole search path."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv(builds.VARIABLE, raising=False)
    return tmp_path


def interpreter(folder: Path, name: str, version: str, *, gil: bool) -> str:
    """Write a script that answers as an interpreter does, and return its path."""
    file = folder / name
    said = f'{{"version": "{version}", "gil": {str(gil).lower()}}}'
    file.write_text(f"#!/bin/sh\necho '{said}'\n", encoding="utf-8")
    file.chmod(0o755)
    return str(file)


def test_an_interpreter_is_asked_for_its_version_and_another_program_is_no_build(tmp_path: Path) -> None:
    build = builds.build_of(sys.executable)
    assert build is not None
    assert build.name == f"Python {'.'.join(map(str, sys.version_info[:3]))}{'' if GIL else 't'}"
    file = tmp_path / "python3.14t"
    for text in ("#!/bin/sh\nexit 3\n", "#!/bin/sh\necho []\n", "#!/bin/sh\necho no JSON\n", "broken"):
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)
        assert builds.build_of(str(file)) is None
    assert builds.build_of(str(tmp_path / "missing")) is None


@pytest.mark.skipif(not GIL, reason="this interpreter is itself free-threaded")
@pytest.mark.parametrize("name", ["python3.13-nogil", "home/.local/bin/python3.13t"])
def test_a_free_threaded_build_is_found(place: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / name).parent.mkdir(parents=True, exist_ok=True)
    path = interpreter(place, name, "3.14.2", gil=False)
    assert builds.free_threaded() == builds.PythonBuild(path, "3.14.2", gil=False)
    assert builds.lacking_free_threaded() == ""
    monkeypatch.setenv(builds.VARIABLE, mine := interpreter(place, "mine", "3.13.9", gil=False))
    assert (build := builds.free_threaded()) is not None
    assert (build.path, builds.wrong_variable()) == (mine, "")
    monkeypatch.setenv(builds.VARIABLE, interpreter(place, "usual", "3.14.2", gil=True))
    assert builds.free_threaded() is None
    assert "Python 3.14.2, which runs with the GIL" in builds.lacking_free_threaded()
    monkeypatch.setenv(builds.VARIABLE, str(place / "missing"))
    assert "does not run as Python" in builds.lacking_free_threaded()


def test_a_usual_build_is_found_beside_a_free_threaded_interpreter(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", interpreter(place, "free", "3.14.2", gil=False))
    assert builds.usual() is None
    other = interpreter(place, "python3.13", "3.13.5", gil=True)
    assert builds.usual() == builds.PythonBuild(other, "3.13.5", gil=True)
    assert builds.free_threaded() == builds.PythonBuild(sys.executable, "3.14.2", gil=False)


HERE = PythonBuild(sys.executable, "3", gil=True)
PROGRAM = """
import os, threading

seen = []

def double(number):
    return 2 * number

def keep():
    seen.append(1)
    return len(seen)

def fail():
    raise ValueError("no such thing")

def core():
    return sorted(os.sched_getaffinity(0))

def leave():
    os._exit(3)

def hang():
    threading.Event().wait()
"""


def test_a_function_runs_on_threads_of_its_own_once_or_for_a_time_and_an_exception_is_reported() -> None:
    with serve(HERE, PROGRAM) as (server,):
        run = server.run("double", 5, threads=3)
        assert run.results == (10, 10, 10)
        assert min(run.wall_s, run.cpu_s) >= 0
        assert [server.run("keep").results for _ in range(3)] == [(1,), (2,), (3,)]
        run = server.run("keep", threads=2, seconds=0.02)
        assert run.wall_s >= 0.02
        assert server.run("keep").results == (3 + sum(run.results) + 1,)
        with pytest.raises(MachineError, match="ValueError: no such thing"):
            server.run("fail", threads=2)
        assert server.run("double", 1).results == (2,)


@pytest.mark.skipif(not can_limit(), reason="needs Linux")
def test_threads_stay_on_cores_of_their_own() -> None:
    allowed = sorted(os.sched_getaffinity(0))
    with serve(HERE, PROGRAM) as (server,):
        assert server.run("core", threads=2).results == ([allowed[0]], [allowed[1 % len(allowed)]])
        assert server.run("core").results == (allowed,)
        assert server.run("core", core=1).results == ([allowed[1 % len(allowed)]],)
        assert server.run("core").results == (allowed,)


def test_a_program_that_ends_or_does_not_start_or_never_ends_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(HERE, PROGRAM) as (server,), pytest.raises(MachineError, match="exit status 3"):
        server.run("leave")
    with serve(HERE, "import no_such_module") as (server,), pytest.raises(MachineError, match="No module named"):
        server.run("double", 1)
    monkeypatch.setattr(scaling, "TIMEOUT_S", 0.2)
    with serve(HERE, PROGRAM) as (server,), pytest.raises(MachineError, match="stopped"):
        server.run("hang")


def test_servers_end_with_the_block_and_get_no_variables_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_GIL", "1")
    program = "import os\ndef named():\n    return [name for name in os.environ if name.startswith('PYTHON')]\n"
    with serve(HERE, program, number=2) as (server, other):
        server.begin("named")
        assert other.run("named").results == server.finish().results == ([],)
        processes = [psutil.Process(each.pid) for each in (server, other)]
    assert not any(each.is_running() for each in processes)


def turn(*, alone: float = 1.0, at_once: float = 1.0) -> ScalingTurn:
    return ScalingTurn(2, one=100.0, threads=110.0, processes=190.0, alone=alone, at_once=at_once)


def test_a_turn_counts_only_if_each_process_had_a_core_and_a_comparison_needs_enough_such_turns() -> None:
    assert [turn().by_threads, turn().by_processes] == pytest.approx([1.1, 1.9])
    assert turn().against_processes == pytest.approx(110 / 190)
    assert turn(alone=0.99, at_once=0.95).undisturbed
    assert not turn(alone=0.5, at_once=0.95).undisturbed
    assert not turn(alone=0.99, at_once=0.5).undisturbed
    for calm, busy, kept in [(3, 0, 3), (2, 0, 0), (3, 1, 3), (4, 2, 0), (9, 3, 9), (0, 0, 0)]:
        assert undisturbed([turn(alone=0.2)] * busy + [turn()] * calm) == [turn()] * kept


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits threads to cores")
def test_new_threads_are_limited_and_the_old_cores_come_back_after_an_error() -> None:
    assert can_limit()
    before = os.sched_getaffinity(0)
    with limited_to(1), ThreadPoolExecutor(1) as pool:
        assert len(os.sched_getaffinity(0)) == 1
        assert pool.submit(os.sched_getaffinity, 0).result() == os.sched_getaffinity(0)
    with pytest.raises(ValueError, match="no"), limited_to(10_000):
        raise ValueError("no")
    assert os.sched_getaffinity(0) == before
