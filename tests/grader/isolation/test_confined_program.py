"""A confined program that runs once to its end: its result, and the operations that it may not use."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from grader.isolation import confined_program
from grader.isolation.confined_program import ProgramResult
from grader.limits import Limits

LIMITS = Limits(memory_bytes=512 << 20)
BOTH_WAYS = pytest.mark.parametrize("sandboxed", [pytest.param(True, marks=pytest.mark.sandbox), False])


def run(
    program: str,
    given: bytes = b"",
    *,
    sandboxed: bool = False,
    timeout_s: float = 60.0,
    together: Barrier | None = None,
) -> ProgramResult:
    """Run a Python text, which finds its descriptors in `answer`, `log` and `gate`."""

    def making(answer: int, log: int, gate: int) -> list[str]:
        found = f"answer, log, gate = {answer}, {log}, {gate}"
        return [sys.executable, "-S", "-c", f"import os, sys\n{found}\n{program}"]

    return confined_program.run(making, given, LIMITS, timeout_s, sandboxed=sandboxed, together=together)


@BOTH_WAYS
def test_each_way_out_comes_back_by_itself(sandboxed: bool) -> None:
    program = "os.write(answer, sys.stdin.buffer.read()[::-1]); os.write(log, b'noted'); print('said'); sys.exit(7)"
    ended = run(program, b"given", sandboxed=sandboxed)
    assert ended == ProgramResult(7, b"nevig", b"noted", "said\n")


@BOTH_WAYS
def test_the_cpu_time_of_a_program_that_waits_at_its_gate_is_what_the_kernel_noted(sandboxed: bool) -> None:
    works = "import time\nwhile time.process_time() < 0.4: pass"
    waits = "os.close(answer); os.read(gate, 1)"
    worked, idle = (run(f"{first}\n{waits}", sandboxed=sandboxed) for first in (works, "pass"))
    assert (worked.status, idle.status) == (0, 0)
    assert worked.cpu_s is not None
    assert idle.cpu_s is not None
    assert 0.4 < worked.cpu_s < 0.8
    assert idle.cpu_s < 0.35
    after = run(f"{waits}\n{works}", sandboxed=sandboxed).cpu_s
    assert after is not None
    assert after < 0.35


@BOTH_WAYS
def test_the_cpu_time_before_a_program_asks_to_begin_does_not_count(sandboxed: bool) -> None:
    works = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass"
    program = f"{works.format(0.6)}\nos.write(gate, b'.'); os.read(gate, 1)\n{works.format(0.2)}"
    ended = run(f"{program}\nos.close(answer); os.read(gate, 1)", sandboxed=sandboxed)
    assert ended.status == 0
    assert ended.cpu_s is not None
    assert 0.2 < ended.cpu_s < 0.5


def side_by_side(*programs: str) -> list[ProgramResult]:
    """Run programs that pass their gates together."""
    together = Barrier(len(programs))
    with ThreadPoolExecutor(len(programs)) as threads:
        return list(threads.map(lambda program: run(program, together=together), programs))


def test_programs_that_begin_together_wait_for_the_last_of_them() -> None:
    program = (
        "import time\ntime.sleep({})\nasked = time.monotonic()\nos.write(gate, b'.'); os.read(gate, 1)\n"
        "os.write(answer, f'{{asked}} {{time.monotonic()}}'.encode()); os.close(answer); os.read(gate, 1)"
    )
    ended = side_by_side(*map(program.format, (0, 0.3, 0)))
    asked, passed = zip(*(map(float, one.answer.split()) for one in ended), strict=True)
    assert min(passed) > max(asked)


def test_a_program_that_ends_before_its_gate_lets_the_others_begin() -> None:
    begins = "os.write(gate, b'.'); os.read(gate, 1); os.write(answer, b'began')"
    ended = side_by_side(begins, "sys.exit(7)", begins)
    assert [(one.status, one.answer) for one in ended] == [(0, b"began"), (7, b""), (0, b"began")]


def test_a_program_that_never_ends_is_ended() -> None:
    assert run("os.write(log, b'on')\nwhile True: pass", timeout_s=1.0).status is None


def test_writing_without_end_fills_nothing_up() -> None:
    ended = run("for _ in range(100): os.write(answer, bytes(1 << 20))")
    assert (ended.status, len(ended.answer)) == (0, confined_program.MAX_KEPT_BYTES)


@pytest.mark.sandbox
def test_it_can_start_no_process() -> None:
    ended = run("os.fork(); os.fork(); os.fork()", sandboxed=True)
    assert ended.status != 0
    assert "BlockingIOError" in ended.printed


@BOTH_WAYS
def test_it_can_write_to_no_file(sandboxed: bool, tmp_path: Path) -> None:
    path = "/tmp/file" if sandboxed else str(tmp_path / "file")  # noqa: S108 - the sandbox's own
    program = f"os.write(os.open({path!r}, os.O_WRONLY | os.O_CREAT), b'kept')"
    ended = run(program, sandboxed=sandboxed)
    assert ended.status != 0
    assert "File too large" in ended.printed


def test_it_has_nothing_of_the_environment_of_whoever_starts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "kept")
    ended = run("os.write(answer, repr(sorted(os.environ)).encode())")
    assert b"A_SECRET" not in ended.answer
    assert b"PYTHONPATH" not in ended.answer
    assert b"PYTHONHASHSEED" in ended.answer
