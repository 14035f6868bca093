"""Live programs, samples of py-spy and of Python's own sampling profiler, and the difference of two runs."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package
import pytest

from harness.errors import MachineError
from harness.profiles.flames import difference_svg
from harness.sampling import pyspy
from harness.sampling.live import end_all, live
from harness.sampling.pyspy import Samples, StackSample, dump, lacking, record

ROOT = Path(__file__).parents[3]
COUNTS = """
import time
number = 0
while True:
    number += 1
    print(number, flush=True)
    time.sleep(0.001)
"""


@pytest.fixture(autouse=True)
def _no_program_is_left() -> Iterator[None]:
    yield
    end_all()


def test_a_program_runs_as_its_own_process_and_its_lines_and_cpu_time_are_read() -> None:
    with live("while True:\n    sum(range(100_000))\n    print(1, flush=True)\n") as computing:
        time.sleep(0.3)
        assert computing.busy() > 0
    with live(COUNTS) as program:
        program.wait_for(5)
        numbers = [number for (number,) in program.rows()]
        assert psutil.Process(program.pid).cmdline() == [sys.executable, str(program.script)]
    assert numbers == list(range(2, 2 + len(numbers)))


def test_a_program_is_suspended_after_the_block_and_goes_on_in_the_next_beside_another() -> None:
    with live(COUNTS) as program:
        pid = program.pid
    assert reaches(pid, psutil.STATUS_STOPPED)
    with live(COUNTS) as program, live(COUNTS, "-O") as other:
        assert program.pid == pid != other.pid
        program.wait_for(2)
        assert int(program.lines()[0]) > 2


def reaches(pid: int, status: str) -> bool:
    """Return whether a process gets this status or ends, after at most 30 s: a signal takes a moment."""
    deadline_s = time.monotonic() + 30
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != status and time.monotonic() < deadline_s:
        time.sleep(0.01)
    return not psutil.pid_exists(pid) or bool(psutil.Process(pid).status() == status)


def test_all_programs_end_with_their_children_and_files() -> None:
    script = (
        "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)'])\n" + COUNTS
    )
    with live(script) as program:
        (child,) = psutil.Process(program.pid).children()
    end_all()
    assert not psutil.pid_exists(program.pid)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
    assert not program.script.exists()


def test_a_script_that_fails_or_is_silent_is_an_error_and_an_error_in_the_block_ends_the_program() -> None:
    with pytest.raises(MachineError, match="ZeroDivisionError"), live("1 / 0"):
        pass
    with pytest.raises(MachineError, match="printed nothing for 0 s"), live(COUNTS) as program:
        program.wait_for(10**9, timeout_s=0)
    assert not psutil.pid_exists(program.pid)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process together with its parent")
def test_a_program_ends_if_the_process_that_started_it_is_killed() -> None:
    starter = (
        "import os, signal\nfrom harness.sampling.live import live\n"
        f"with live({COUNTS!r}) as program:\n"
        "    print(program.pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", starter], capture_output=True, text=True, check=False, cwd=ROOT)
    assert reaches(int(done.stdout), psutil.STATUS_ZOMBIE)


BUSY = """
import hashlib
data = bytes(1 << 24)

def inner():
    return sum(i * i for i in range(400_000))

def outer():
    hashlib.sha256(data)
    return inner()

while True:
    outer()
    print("round", flush=True)
"""


@pytest.fixture
def _can_watch() -> None:
    if lacking():
        pytest.skip(lacking())


@pytest.fixture
def _fresh() -> Iterator[None]:
    """Forget whether py-spy works here, before and after the test."""
    lacking.cache_clear()
    yield
    lacking.cache_clear()


@pytest.mark.usefixtures("_can_watch")
def test_a_recording_holds_stacks_in_order_and_ends_after_the_given_time() -> None:
    with live(BUSY) as program:
        samples = record(program.pid, 0.5, rate=100)
        text = dump(program.pid)
    assert "<module> (program.py:13)" in text
    assert len(samples) > 0
    assert samples.with_function("outer") >= samples.with_function("inner") > 0
    assert {sample.stack[0][0] for sample in samples.taken} == {"<module>"}
    with pytest.raises(MachineError, match="py-spy failed"):
        record(2**22 - 1, 0.1)


@pytest.mark.usefixtures("_fresh")
def test_a_missing_or_forbidden_py_spy_names_its_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspy, "program", lambda: None)
    assert lacking() == "needs py-spy. Run: python -m pip install 'fairclock[profilers]'"
    with pytest.raises(MachineError, match="pip install"):
        dump(1)
    lacking.cache_clear()
    fake = tmp_path / "py-spy"
    fake.write_text(
        "#!/bin/sh\necho 'Error: Permission Denied: Try running again with elevated permissions' >&2\nexit 1\n"
    )
    fake.chmod(0o755)
    monkeypatch.setattr(pyspy, "program", lambda: str(fake))
    assert "ptrace_scope" in lacking()
    assert lacking().startswith("needs py-spy with access to other processes. py-spy failed: Error: Permission Denied")
    with pytest.raises(MachineError, match="as root"):
        record(1, 0.1)


def sample(*names: str, file: str = "/x/a.py") -> StackSample:
    return StackSample("main", tuple((name, file) for name in names))


def test_a_sample_counts_once_for_a_function_that_calls_itself_and_no_samples_have_no_shares() -> None:
    recorded = Samples((sample("f", "g"), sample("f", "g", "g"), sample("f"), StackSample("main", ())))
    assert recorded.with_function("g") == 2
    assert recorded.share("g") == 0.5
    assert recorded.share("h") == Samples(()).share("f") == len(Samples(())) == 0
    assert len(recorded.only(lambda each: "g" in each.names)) == 2
    twice = Samples((sample("f"), sample("f"), sample("f", file="")))
    assert twice.stacks() == [(("a.py: f",), 2.0), (("f",), 1.0)]


def test_a_damaged_recording_is_one_sentence_and_a_frame_needs_no_file() -> None:
    frames = b'{"shared": {"frames": [{"name": "f"}]}, "profiles": [{"name": "main", "samples": [[0]]}]}'
    assert pyspy.read_speedscope(frames).taken == (StackSample("main", (("f", ""),)),)
    for data in (frames[:-3], b"", b"[]", frames.replace(b"[[0]]", b"[[1]]"), frames.replace(b"samples", b"events")):
        with pytest.raises(MachineError, match="damaged"):
            pyspy.read_speedscope(data)


BEFORE = [(("main", "parse"), 3.0), (("main", "total"), 1.0)]
AFTER = [(("main", "parse"), 0.5), (("main", "total"), 1.0), (("main", "new"), 1.0)]


def test_each_box_has_both_costs_and_the_widths_are_those_of_the_chosen_run() -> None:
    pictures = {
        run: difference_svg(BEFORE, AFTER, title="t", widths=run, unit="{:g}".format) for run in ("before", "after")
    }
    assert "own cost: parse 3 before and 0.5 after; new 0 before and 1 after; " in pictures["before"]
    assert "parse: 3 before, 0.5 after" in pictures["before"]
    assert "new: 0 before, 1 after" in pictures["after"]
    assert "new: 0 before" not in pictures["before"]
    found = re.findall(r"<title>(\w+): [^<]*</title>\s*<rect [^>]*width=\"([\d.]+)\"", pictures["after"])
    widths = {name: float(width) for name, width in found}
    assert widths["new"] == pytest.approx(2 * widths["parse"], abs=0.1)
    with pytest.raises(ValueError, match="cost above 0"):
        difference_svg(BEFORE, [], title="t")
