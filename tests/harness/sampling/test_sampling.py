"""Live programs, and samples of py-spy."""

import time
from collections.abc import Iterator

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package
import pytest

from harness.sampling.live import end_all, live
from harness.sampling.pyspy import StackSample, StackSamples, dump, lacking, record

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


@pytest.mark.usefixtures("_can_watch")
def test_a_recording_holds_stacks_in_order_and_ends_after_the_given_time() -> None:
    with live(BUSY) as program:
        samples = record(program.pid, 0.5, rate=100)
        text = dump(program.pid)
    assert "<module> (program.py:13)" in text
    assert len(samples) > 0
    assert samples.with_function("outer") >= samples.with_function("inner") > 0
    assert {sample.stack[0][0] for sample in samples.taken} == {"<module>"}


def sample(*names: str, file: str = "/x/a.py") -> StackSample:
    return StackSample("main", tuple((name, file) for name in names))


def test_a_sample_counts_once_for_a_function_that_calls_itself() -> None:
    recorded = StackSamples((sample("f", "g"), sample("f", "g", "g"), sample("f"), StackSample("main", ())))
    assert recorded.with_function("g") == 2
    assert recorded.share("g") == 0.5
    assert StackSamples(()).share("f") == 0
    twice = StackSamples((sample("f"), sample("f"), sample("f", file="")))
    assert twice.stacks() == [(("a.py: f",), 2.0), (("f",), 1.0)]
