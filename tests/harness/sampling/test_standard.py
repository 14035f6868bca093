"""Tests of Python's own sampling profiler: its output is read, and an older Python lacks it."""

import subprocess
import sys

import pytest

from harness.errors import MachineError
from harness.sampling import standard


def test_stacks_are_read_without_threads_files_and_lines() -> None:
    text = "tid:7;a.py:<module>:9;a.py:load:3 12\ntid:8;a.py:<module>:9;a.py:load:4 5\ntid:7;<GC> 1\nnonsense\n"
    assert standard.read_collapsed(text) == {("<module>", "load"): 17, ("<GC>",): 1}


def test_it_is_in_python_from_its_first_version_on() -> None:
    assert bool(standard.lacking()) == (sys.version_info < standard.FIRST)
    assert not standard.lacking() or "needs Python 3.15 or newer: uv python install 3.15" in standard.lacking()


@pytest.mark.skipif(sys.version_info >= standard.FIRST, reason="this Python has the profiler")
def test_a_failure_is_an_error_with_the_last_line() -> None:
    with pytest.raises(MachineError, match="profiling"):
        standard.attach(1, 1)


def test_a_profiler_that_does_not_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(command: list[str], **_: object) -> None:
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(subprocess, "run", hangs)
    with pytest.raises(MachineError, match="did not end in time"):
        standard.attach(1, 1)
