"""The driver by itself, without valgrind: what it answers, and what a submission can no longer do under it."""

import json
import marshal
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from grader.isolation import confined
from grader.trials.counted import FLAGS

DRIVER = confined.program("counted_driver")
NAMED_TUPLE = """
from collections import namedtuple
Row = namedtuple("Row", "name total")
def f(n): return list(Row("a", n))
"""


def answered(source: str, *, modules: tuple[str, ...] = (), **given: object) -> Mapping[str, Any]:
    """What the driver says of `f` in a source text, called with 3 and 4."""
    task = {"sources": {"mine": source}, "run": "mine", "function": "f", "calls": [(3,), (4,)], "modules": modules}
    task |= {"counter": "", "key": ""}
    read, write = os.pipe()
    log = os.open(os.devnull, os.O_WRONLY)
    with os.fdopen(read, "rb") as answer:
        done = subprocess.run(
            [sys.executable, *FLAGS, "-c", DRIVER, str(log), str(write)],
            input=marshal.dumps({**task, **given}),
            pass_fds=(log, write),
            capture_output=True,
            check=False,
        )
        os.close(write)
        os.close(log)
        assert done.returncode == 0, done.stderr
        said: dict[str, Any] = json.loads(answer.read() or "{}")
    return said


def test_it_calls_the_function_on_each_of_the_arguments() -> None:
    assert answered("def f(n): return [n, -n / 2, 'é\\n\\U0001f40d\"', None, True, (n,), '']") == {
        "answers": [[n, -n / 2, 'é\n\U0001f40d"', None, True, [n], ""] for n in (3, 4)]
    }


def test_where_nothing_is_to_be_run_it_gives_the_answers_it_was_given() -> None:
    assert answered("raise ValueError", run="", answers=[1, 2]) == {"answers": [1, 2]}


def test_an_exception_and_an_answer_that_is_no_plain_value_are_told() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        _ = 1 // int("0")  # older Pythons say it in other words
    assert answered("def f(n): return 1 // (n - 3)") == {"raised": ["ZeroDivisionError", str(caught.value)]}
    assert answered("def f(n): return {n}") == {"raised": ["TypeError", "no plain value: set"]}
    assert answered("class L(list): pass\ndef f(n): return L()") == {"raised": ["TypeError", "no plain value: L"]}
    assert answered("def f(n): raise SystemExit(0)")["raised"][0] == "SystemExit"


def test_modules_that_were_named_can_be_imported_and_used() -> None:
    assert answered(NAMED_TUPLE, modules=("collections",)) == {"answers": [["a", 3], ["a", 4]]}
    several = "import math, re\nfrom functools import lru_cache\n@lru_cache\ndef f(n): return math.comb(n, 2)"
    assert answered(several, modules=("math", "re", "functools")) == {"answers": [3, 6]}


@pytest.mark.parametrize(
    ("event", "source"),
    [
        ("import", "import ctypes"),
        ("import", "import gc"),
        ("import", "import json"),
        ("import", "import _socket"),
        ("open", "open('/proc/self/mem', 'r+b')"),
        ("open", "open(4, 'wb', closefd=False)"),
        ("open", "import _io; _io.FileIO(1023, 'w')"),
        ("code.__new__", "compile('1', '', 'eval').replace(co_consts=())"),
        ("marshal.loads", "import marshal; marshal.loads(b'N')"),
        ("object.__getattr__", "(lambda: 0).__code__"),
        ("object.__getattr__", "(i for i in ()).gi_frame"),
        ("object.__setattr__", "(lambda: 0).__code__ = compile('1', '', 'eval')"),
        ("sys.settrace", "import sys; sys.settrace(print)"),
        ("sys._current_frames", "import sys; sys._current_frames()"),
    ],
)
def test_what_is_no_computing_ends_it(event: str, source: str) -> None:
    assert answered(f"def f(n):\n    {source}\n    return n")["refused"][0] == event
    assert answered(f"{source}\ndef f(n): return n")["refused"][0] == event, "at import"


@pytest.mark.parametrize(
    "source",
    [
        "import os; os.fork()",
        "import os; os.dup(1)",
        "import os; os.write(1, b'')",
        "import os; os._exit(0)",
        "import posix; posix.kill(0, 9)",
        "import _signal; _signal.setitimer(0, 1)",
        "import _imp; _imp.create_builtin(None)",
        "import _thread; _thread.start_new_thread(print, ())",
        "import sys; sys._getframe()",
    ],
)
def test_system_calls_have_no_names_left(source: str) -> None:
    kind, said = answered(f"def f(n):\n    {source}\n    return n")["raised"]
    assert kind == "AttributeError"
    assert "has no attribute" in said


def test_a_refusal_cannot_be_caught() -> None:
    caught = "def f(n):\n    try: open('/etc/passwd')\n    except BaseException: pass\n    return n"
    assert answered(caught)["refused"] == ["open", "/etc/passwd"]


def test_new_builtins_do_not_turn_a_refusal_into_a_permission() -> None:
    """The hook calls nothing that has a name: it would be a submission's by then."""
    redefined = """
import builtins, sys
def stop(*_): raise ValueError
builtins.type = builtins.len = builtins.str = stop
vars(sys.modules["__main__"]).update(text=stop, fence=stop, ALLOWED={"open"})
def f(n):
    try: opened = open("/etc/hostname").read()
    except ValueError: return "denied"
    return opened
"""
    assert answered(redefined) == {"refused": ["open", "/etc/hostname"]}
