"""The program of a paired process, and the way in which it finds a function of the caller."""

import functools
import math
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.paired.paired_process_main import CALLS, DONE, FAILED, PREPARE, locate
from harness.processes.channel import Closed
from harness.processes.launcher import KIT, Child

COMMAND = [sys.executable, "-m", "harness.paired.paired_process_main"]


def at_the_top() -> int:
    return 1


class Holder:
    @staticmethod
    def static() -> int:
        return 2

    def method(self) -> int:
        return 3


def conversation(*requests: tuple[str, str] | tuple[str, str, str] | int, path: str = "") -> list[dict[str, Any]]:
    """Return the failures in the answers of a paired process, one dict per answer; it is empty for a done request.

    A request is a job, as statement, setup and place, or a number of calls to run.
    """
    found = []
    with Child(COMMAND, {**os.environ, "PYTHONPATH": str(KIT)}, log=False) as child:
        for request in requests:
            if isinstance(request, int):
                child.send(CALLS, {"calls": request})
                assert child.receive() == (DONE, {})
                child.send(b"r")
            else:
                entries = [entry for entry in (path, *sys.path) if entry]
                names = ("statement", "setup", "place")
                child.send(PREPARE, {"place": "", **dict(zip(names, request, strict=False)), "path": entries})
            kind, body = child.receive()
            assert kind == (FAILED if body else DONE)
            found.append(body)
        if found[-1]:
            with pytest.raises(Closed):
                child.receive()
    return found


def test_jobs_and_calls_run_when_requested_and_a_new_job_replaces_the_old_one(tmp_path: Path) -> None:
    jobs = [(f"open({str(tmp_path / 'calls')!r}, 'a').write({name!r})", "pass") for name in "ab"]
    assert conversation(jobs[0], 3, 0, jobs[1], 2) == [{}] * 5
    assert (tmp_path / "calls").read_text() == "aaabb"


def test_the_code_has_no_part_in_the_conversation_and_no_garbage_collector() -> None:
    setup = "import gc, sys; input_ended = lambda: not sys.stdin.read()"
    code = "print('12'); assert input_ended(); assert not gc.isenabled()"
    assert conversation((code, setup), 1) == [{}, {}]


def test_a_function_at_the_top_of_a_module_can_be_located_and_a_local_one_is_refused() -> None:
    at_the_top_of_modules: tuple[Any, ...] = (at_the_top, Holder.static, math.gamma, os.getpid)
    for function in at_the_top_of_modules:
        assert locate(function) == (function.__module__, function.__qualname__)
    wrapped = functools.wraps(at_the_top)(lambda: 2)
    for local in (lambda: 1, Holder().method, functools.partial(at_the_top), wrapped):
        with pytest.raises(UsageError, match="a statement with a setup"):
            locate(local)


def test_a_function_of_a_module_is_found_and_called(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("calls = []\ndef work():\n    calls.append(1)\n")
    check = ("assert len(calls) == 3", "from mine import calls")  # the module is the same that the next job sees
    assert conversation(("work", "pass", "mine"), 3, check, 1, path=str(tmp_path)) == [{}] * 4


def test_the_error_for_a_function_missing_after_loading_names_it(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("if __name__ == '__main__':\n    def work(): ...\n")
    (failure,) = conversation(("work", "pass", str(tmp_path / "script.py")))
    assert failure["usage"]
    assert failure["message"].startswith("work is not in __paired_main__")
