"""A confined program that runs once to its end: its result, and the operations that it may not use."""

import sys
from pathlib import Path

import pytest

from grader.isolation import sandbox
from grader.isolation.process_tree import MAX_KEPT_BYTES
from grader.limits import Limits

LIMITS = Limits(memory_bytes=512 << 20)
BOTH_WAYS = pytest.mark.parametrize("sandboxed", [pytest.param(True, marks=pytest.mark.sandbox), False])


def run(
    program: str, given: bytes = b"", *, sandboxed: bool = False, timeout_s: float = 60.0
) -> tuple[int | None, bytes]:
    """Run a Python text."""
    argv = [sys.executable, "-S", "-c", f"import os, sys\n{program}"]
    return sandbox.run(argv, given, LIMITS, timeout_s, sandboxed=sandboxed)


@BOTH_WAYS
def test_the_exit_status_and_all_that_it_prints_come_back(sandboxed: bool) -> None:
    program = "print(sys.stdin.read()[::-1], flush=True); print('said', file=sys.stderr); sys.exit(7)"
    assert run(program, b"given", sandboxed=sandboxed) == (7, b"nevig\nsaid\n")


def test_a_program_that_never_ends_is_ended_and_writing_without_end_fills_nothing_up() -> None:
    status, printed = run("print('on', flush=True)\nwhile True: pass", timeout_s=1.0)
    assert (status, printed) == (None, b"on\n")
    status, printed = run("for _ in range(20): os.write(1, bytes(1 << 20))")
    assert (status, len(printed)) == (0, MAX_KEPT_BYTES)


@BOTH_WAYS
def test_it_can_start_no_process_and_write_to_no_file(sandboxed: bool, tmp_path: Path) -> None:
    path = "/tmp/file" if sandboxed else str(tmp_path / "file")  # noqa: S108 - the sandbox's own
    status, printed = run(f"os.write(os.open({path!r}, os.O_WRONLY | os.O_CREAT), b'kept')", sandboxed=sandboxed)
    assert status
    assert b"File too large" in printed
    if sandboxed:
        status, printed = run("os.fork(); os.fork(); os.fork()", sandboxed=True)
        assert status
        assert b"BlockingIOError" in printed


def test_it_has_nothing_of_the_environment_of_whoever_starts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "kept")
    _, printed = run("print(sorted(os.environ))")
    assert b"A_SECRET" not in printed
    assert b"PYTHONPATH" not in printed
    assert b"PYTHONHASHSEED" in printed
