"""The driver that runs counted code, tested without valgrind: its answers, and the operations that it forbids."""

import json
import marshal
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from grader.inside.opcode_counter import written_out
from grader.isolation import confined_program
from grader.plain_modules import PLAIN_MODULES
from grader.trials.counted_process import FLAGS
from grader.trials.plain_imports import beforehand

DRIVER = confined_program.program("counted_driver")


def answered(source: str, *, modules: tuple[str, ...] = (), **given: object) -> Mapping[str, Any]:
    """Return the driver's answer for `f` in a source text, called with 3 and 4."""
    task = {"sources": {"mine": source}, "run": "mine", "function": "f", "calls": [(3,), (4,)], "modules": modules}
    task |= {"counter": "", "key": "", "allowed": "collections, math"}
    read, write = os.pipe()
    log, gate = os.open(os.devnull, os.O_WRONLY), os.open(os.devnull, os.O_RDWR)
    with os.fdopen(read, "rb") as answer:
        done = subprocess.run(
            [sys.executable, *FLAGS, "-c", DRIVER, str(log), str(write), str(gate)],
            input=marshal.dumps({**task, **given}),
            pass_fds=(log, write, gate),
            capture_output=True,
            check=False,
        )
        for descriptor in (log, write, gate):
            os.close(descriptor)
        assert done.returncode == 0, done.stderr
        said: dict[str, Any] = json.loads(answer.read() or "{}")
    return said


def test_it_calls_the_function_and_tells_answers_and_exceptions() -> None:
    assert answered("def f(n): return [n, -n / 2, 'é\\n\\U0001f40d\"', None, True, (n,), '']") == {
        "answers": [[n, -n / 2, 'é\n\U0001f40d"', None, True, [n], ""] for n in (3, 4)]
    }
    assert answered("raise ValueError", run="", answers=[1, 2]) == {"answers": [1, 2]}, "nothing is to be run"
    assert answered("def f(n): raise ValueError(f'not {n}')") == {"raised": ["ValueError", "not 3"]}
    assert answered("class L(list): pass\ndef f(n): return L()") == {"raised": ["TypeError", "no plain value: L"]}
    assert answered("def f(n): raise SystemExit(0)")["raised"][0] == "SystemExit"


@pytest.mark.parametrize(
    ("event", "source"),
    [
        ("open", "open('/proc/self/mem', 'r+b')"),
        ("open", "import _io; _io.FileIO(1023, 'w')"),
        ("code.__new__", "compile('1', '', 'eval').replace(co_consts=())"),
        ("marshal.loads", "import marshal; marshal.loads(b'N')"),
        ("function.__new__", "type(lambda: 0)((lambda: 0).__code__, {})"),
        ("object.__setattr__", "(lambda: 0).__code__ = (lambda: 1).__code__"),
        ("object.__getattr__", "(i for i in ()).gi_frame"),
        ("sys.settrace", "import sys; sys.settrace(print)"),
        ("sys._current_frames", "import sys; sys._current_frames()"),
        ("object.__getattr__", "import sys; sys.audit('object.__getattr__', None, type('', (), {'__eq__': id})())"),
    ],
)
def test_what_is_no_computing_ends_it(event: str, source: str) -> None:
    caught = f"def f(n):\n    try: {source}\n    except BaseException: pass\n    return n"
    assert answered(caught)["refused"][0] == event
    assert answered(f"{source}\ndef f(n): return n")["refused"][0] == event, "at import"


@pytest.mark.parametrize(
    "source",
    [
        "import os; os.fork()",
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


def test_an_import_is_refused_with_an_import_error_that_names_what_there_is() -> None:
    for name in ("ctypes", "gc", "numpy", "collections.missing"):
        said = f"{name} cannot be imported while the cost is counted. The allowed modules are collections, math"
        for source in (f"def f(n):\n    import {name}\n    return n", f"import {name}\ndef f(n): return n"):
            assert answered(source, modules=("collections",)) == {"raised": ["ImportError", said]}


HONEST = """
from __future__ import annotations
import array, bisect, heapq, itertools, math, operator, re, string
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property, partial, reduce, singledispatch, total_ordering, wraps
from typing import Any, Generic, NamedTuple, Protocol, TypeVar
try:
    import numpy
except ImportError:
    numpy = None
T = TypeVar("T")
Pair = namedtuple("Pair", ["times", "name"], defaults=["a"])
class Row(NamedTuple):
    times: int
    name: str = "a"
@dataclass(frozen=True, slots=True, order=True)
class Fixed:
    n: int = 1
    seen: list[int] = field(default_factory=list)
class Rows(Sequence):
    def __getitem__(self, at): return at
    def __len__(self): return 9
class Box(Generic[T]):
    def __init__(self, value: T) -> None: self.value = value
class Twice(Box):
    def __init__(self, n):
        super().__init__(2 * n)
        self.add = lambda: vars(self)["value"]
    @classmethod
    def make(kind, n): return kind(n)
    @cached_property
    def half(self): return self.value // 2
@singledispatch
def shown(value): return 0
@shown.register
def _(value: int): return value
@cache
def f(n):
    heap = list(heapq.merge([n], [9]))
    counted = Counter("a" * n).most_common(1)[0][1], int(re.sub(r"\\d", lambda m: m[0], str(n)))
    made = Pair(n)._replace(name="b")[0],
    made += replace(Fixed(), n=n).n, asdict(Fixed(n))["n"], Row(n).times, Rows().index(n), Twice.make(n).half, shown(n)
    return [max(*counted, *made, reduce(max, [n]), partial(max, n)(0)), numpy is None, len(heap), str(Fixed(n))]
"""


@pytest.mark.parametrize("counter", ["", "opcode_counter"])
def test_what_the_allowed_modules_offer_can_be_used(counter: str) -> None:
    modules = tuple(beforehand(HONEST, PLAIN_MODULES))
    said = answered(HONEST, modules=modules, counter=confined_program.program(counter) if counter else "", key="k")
    assert said.get("answers") == [[n, True, 2, f"Fixed(n={n}, seen=[])"] for n in (3, 4)], said
    assert not counter or said["opcodes"] > 0


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    class B:\n        def f(self): return super().__init__()\n",
        "def super(*_): return 1\nclass A:\n    def f(self): return super()\n",
        "class A:\n    def f(): return super()\n",
        "super(" * 2000 + ")" * 2000,
        "super(",
    ],
)
def test_what_cannot_be_written_out_stays_as_it_is(source: str) -> None:
    assert "__super__" not in written_out(source)


def test_nothing_that_was_replaced_turns_a_refusal_into_a_permission_or_writes_the_answers() -> None:
    """The hook calls nothing by name, because the submission may have replaced every name."""
    redefined = """
import builtins, sys
def stop(*_): raise ValueError
builtins.type = builtins.len = builtins.str = stop
main = vars(sys.modules["__main__"])
seen = sorted(main)
main.update(text=stop, fence=stop, ALLOWED={"open"})
def f(n):
"""
    opens = "    try: opened = open('/etc/hostname').read()\n    except ValueError: return 'denied'\n    return opened"
    assert answered(redefined + opens) == {"refused": ["open", "/etc/hostname"]}
    assert answered(f"{redefined}    return [n, 'a', seen]") == {"answers": [[3, "a", []], [4, "a", []]]}


def test_an_answer_is_not_asked_for_what_it_is() -> None:
    source = """
class Lazy:
    @property
    def __class__(self): raise ValueError("asked")
def f(n): return [Lazy()]
"""
    assert answered(source) == {"raised": ["TypeError", "no plain value: Lazy"]}
