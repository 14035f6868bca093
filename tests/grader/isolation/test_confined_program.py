"""A confined program that runs once to its end: its result, and the operations that it may not use."""

import sys
from pathlib import Path

import pytest

from grader.isolation import confined_program
from grader.isolation.confined_program import ProgramResult
from grader.limits import Limits

LIMITS = Limits(memory_bytes=512 << 20)
BOTH_WAYS = pytest.mark.parametrize("sandboxed", [pytest.param(True, marks=pytest.mark.sandbox), False])


def run(program: str, given: bytes = b"", *, sandboxed: bool = False, timeout_s: float = 60.0) -> ProgramResult:
    """Run a Python text, which finds its descriptor in `answer`."""

    def command(answer: int) -> list[str]:
        return [sys.executable, "-S", "-c", f"import os, sys\nanswer = {answer}\n{program}"]

    return confined_program.run(command, given, LIMITS, timeout_s, sandboxed=sandboxed)


@BOTH_WAYS
def test_the_answer_and_the_output_come_back(sandboxed: bool) -> None:
    program = "os.write(answer, sys.stdin.buffer.read()[::-1]); print('said'); sys.exit(7)"
    ended = run(program, b"given", sandboxed=sandboxed)
    assert ended == ProgramResult(7, b"nevig", "said\n")


def test_a_program_that_never_ends_is_ended() -> None:
    assert run("print('on')\nwhile True: pass", timeout_s=1.0).status is None


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
