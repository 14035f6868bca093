import functools
import json
import math
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.paired import paired_process_main
from harness.paired.paired_process_main import Failure, Job

KIT = Path(__file__).parents[3]


def at_the_top() -> int:
    return 1


class Holder:
    @staticmethod
    def static() -> int:
        return 2

    def method(self) -> int:
        return 3


def conversation(*lines: bytes) -> list[bytes]:
    """Return the answers of a paired process to these lines, after which its input ends."""
    done = subprocess.run(
        [sys.executable, "-m", "harness.paired.paired_process_main"],
        input=b"".join(lines),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(KIT)},
        check=True,
    )
    return done.stdout.splitlines(keepends=True)


def line(statement: str | paired_process_main.FunctionLocation, setup: str = "pass", path: str = "") -> bytes:
    entries = [entry for entry in (path, *sys.path) if entry]
    return json.dumps(Job(statement=statement, setup=setup, path=entries)).encode() + b"\n"


def failure(*lines: bytes) -> Failure:
    answers = conversation(*lines)
    told: Failure = json.loads(answers[-1])
    return told


def test_it_answers_a_job_and_each_request_when_they_are_done(tmp_path: Path) -> None:
    count = f"open({str(tmp_path / 'calls')!r}, 'a').write('x')"
    assert conversation(line(count), b"3\n", b"0\n", b"2\n") == [b"\n"] * 4
    assert (tmp_path / "calls").read_text() == "x" * 5


def test_a_new_job_replaces_the_old_job(tmp_path: Path) -> None:
    jobs = [line(f"open({str(tmp_path / 'calls')!r}, 'a').write({name!r})") for name in "ab"]
    assert conversation(jobs[0], b"1\n", jobs[1], b"2\n") == [b"\n"] * 4
    assert (tmp_path / "calls").read_text() == "abb"


def test_the_code_has_no_part_in_the_conversation_and_no_garbage_collector() -> None:
    setup = "import gc, sys; input_ended = lambda: not sys.stdin.read()"
    code = "print('12'); assert input_ended(); assert not gc.isenabled()"
    assert conversation(line(code, setup), b"1\n") == [b"\n"] * 2


def test_a_failure_has_the_traceback_of_the_exception_and_only_invalid_code_is_a_usage_error() -> None:
    told = failure(line("1 / 0"), b"1\n")
    assert told["message"] == "ZeroDivisionError: division by zero"
    assert not told["usage"]
    assert "in _timing_loop" in told["traceback"]
    assert failure(line("raise SystemExit(3)"), b"1\n")["message"] == "SystemExit: 3"
    assert failure(line("1 +"))["usage"]


def test_a_function_at_the_top_of_a_module_can_be_located_and_a_local_one_is_refused() -> None:
    at_the_top_of_modules: tuple[Any, ...] = (at_the_top, Holder.static, math.gamma, os.getpid)
    for function in at_the_top_of_modules:
        place = {"module": function.__module__, "script": None, "qualname": function.__qualname__}
        assert paired_process_main.locate(function) == place
    wrapped = functools.wraps(at_the_top)(lambda: 2)
    for local in (lambda: 1, Holder().method, functools.partial(at_the_top), wrapped):
        with pytest.raises(UsageError, match="a statement with a setup"):
            paired_process_main.locate(local)


def test_a_function_is_found_and_called(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("calls = []\ndef work():\n    calls.append(1)\n")
    found = paired_process_main.FunctionLocation(module="mine", script=None, qualname="work")
    assert conversation(line(found, path=str(tmp_path)), b"3\n") == [b"\n"] * 2
    # The module is the same that the next job sees.
    check = line("assert len(calls) == 3", "from mine import calls", str(tmp_path))
    assert conversation(line(found, path=str(tmp_path)), b"3\n", check, b"1\n") == [b"\n"] * 4


def main_module(monkeypatch: pytest.MonkeyPatch, **attributes: object) -> types.FunctionType:
    """Return a function of an artificial `__main__`."""
    module = types.ModuleType("__main__")
    exec("def work(): return 4", module.__dict__)  # noqa: S102 - a module without a file
    vars(module).update(attributes)
    monkeypatch.setitem(sys.modules, "__main__", module)
    work: types.FunctionType = module.__dict__["work"]
    return work


def test_a_function_of_a_script_is_found_by_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "script").write_text("def work():\n    assert __name__ != '__main__'\n")
    found = paired_process_main.locate(main_module(monkeypatch, __file__=str(tmp_path / "script")))
    assert found == {"module": None, "script": str(tmp_path / "script"), "qualname": "work"}
    assert conversation(line(found), b"1\n") == [b"\n"] * 2


def test_a_function_of_a_module_that_is_run_is_found_by_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    found = paired_process_main.locate(
        main_module(monkeypatch, __file__=__file__, __spec__=types.SimpleNamespace(name="timeit"))
    )
    assert found == {"module": "timeit", "script": None, "qualname": "work"}


def test_the_error_for_a_function_typed_at_a_prompt_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="Save it in a module, or pass a statement"):
        paired_process_main.locate(main_module(monkeypatch))


def test_the_error_for_a_function_missing_after_loading_names_it(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("if __name__ == '__main__':\n    def work(): ...\n")
    told = failure(
        line(paired_process_main.FunctionLocation(module=None, script=str(tmp_path / "script.py"), qualname="work"))
    )
    assert told["usage"]
    assert told["message"].startswith("work is not in __paired_main__")


def test_a_job_has_the_import_path_of_the_caller(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "path", ["", "beside"])
    monkeypatch.chdir(tmp_path)
    assert paired_process_main.make_job("pass", "pass")["path"] == [str(tmp_path), str(tmp_path / "beside")]
