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
NAMED_TUPLE = """
from collections import namedtuple
Row = namedtuple("Row", "name total")
def f(n): return list(Row("a", n))
"""


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


def test_it_calls_the_function_on_each_of_the_arguments() -> None:
    assert answered("def f(n): return [n, -n / 2, 'é\\n\\U0001f40d\"', None, True, (n,), '']") == {
        "answers": [[n, -n / 2, 'é\n\U0001f40d"', None, True, [n], ""] for n in (3, 4)]
    }


def test_where_nothing_is_to_be_run_it_gives_the_answers_it_was_given() -> None:
    assert answered("raise ValueError", run="", answers=[1, 2]) == {"answers": [1, 2]}


def test_an_exception_and_an_answer_that_is_no_plain_value_are_told() -> None:
    assert answered("def f(n): raise ValueError(f'not {n}')") == {"raised": ["ValueError", "not 3"]}
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
        ("open", "open('/proc/self/mem', 'r+b')"),
        ("open", "open(4, 'wb', closefd=False)"),
        ("open", "import _io; _io.FileIO(1023, 'w')"),
        ("code.__new__", "compile('1', '', 'eval').replace(co_consts=())"),
        ("marshal.loads", "import marshal; marshal.loads(b'N')"),
        ("code.__new__", "(lambda: 0).__code__.replace(co_consts=())"),
        ("function.__new__", "type(lambda: 0)((lambda: 0).__code__, {})"),
        ("object.__setattr__", "(lambda: 0).__code__ = (lambda: 1).__code__"),
        ("object.__getattr__", "(i for i in ()).gi_frame"),
        ("object.__setattr__", "(lambda: 0).__code__ = compile('1', '', 'eval')"),
        ("sys.settrace", "import sys; sys.settrace(print)"),
        ("sys._current_frames", "import sys; sys._current_frames()"),
        ("object.__getattr__", "import sys; sys.audit('object.__getattr__', None, type('', (), {'__eq__': id})())"),
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


@pytest.mark.parametrize("name", ["ctypes", "gc", "json", "_socket", "numpy", "collections.missing"])
def test_an_import_is_refused_with_an_import_error_that_names_what_there_is(name: str) -> None:
    said = f"{name} cannot be imported while the cost is counted. The allowed modules are collections, math"
    for source in (f"def f(n):\n    import {name}\n    return n", f"import {name}\ndef f(n): return n"):
        assert answered(source, modules=("collections",)) == {"raised": ["ImportError", said]}


def test_who_can_do_without_a_module_goes_on_without_it() -> None:
    source = """
try:
    import numpy
except ImportError:
    numpy = None
def f(n): return [numpy is None, n]
"""
    assert answered(source) == {"answers": [[True, 3], [True, 4]]}


HONEST = {
    "a data class": """
from dataclasses import dataclass, field, asdict, replace
@dataclass(order=True)
class Row:
    times: int
    name: str = field(default="", compare=False)
    seen: list[int] = field(default_factory=list)
@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    n: int = 1
def f(n): return [replace(Row(n, "a"), times=n).times, asdict(Row(n)), Fixed(n=n).n, Row(1) < Row(n), repr(Fixed())][:1]
""",
    "a typing.NamedTuple": """
from typing import NamedTuple
class Row(NamedTuple):
    times: int
    name: str = "a"
    @property
    def twice(self): return 2 * self.times
def f(n): return [Row(n).twice // 2]
""",
    "a namedtuple with defaults": """
from collections import namedtuple
Row = namedtuple("Row", ["times", "name"], defaults=["a"])
def f(n): return [Row(n)._replace(name="b").times]
""",
    "Counter.most_common": """
from collections import Counter, OrderedDict, defaultdict, deque, ChainMap, UserDict
def f(n): return [Counter("a" * n).most_common(1)[0][1]]
""",
    "collections.abc": """
from collections.abc import Callable, Iterator, Mapping, Sequence
import collections.abc
class Rows(Sequence):
    def __getitem__(self, at): return at
    def __len__(self): return 9
def f(n): return [Rows().index(n) if isinstance(Rows(), collections.abc.Sequence) else 0]
""",
    "functools": """
from functools import cache, cached_property, cmp_to_key, lru_cache, partial, partialmethod, reduce, singledispatch, \
    singledispatchmethod, total_ordering, wraps
@singledispatch
def shown(value): return 0
@shown.register
def _(value: int): return value
@shown.register(list)
def _(value): return value[0]
def noisy(function):
    @wraps(function)
    def inner(*arguments): return function(*arguments)
    return inner
@total_ordering
class Row:
    def __init__(self, n): self.n = n
    def __eq__(self, other): return self.n == other.n
    def __lt__(self, other): return self.n < other.n
    @cached_property
    def twice(self): return 2 * self.n
    @singledispatchmethod
    def add(self, other): return self.n
    half = partialmethod(lambda self, by: self.n // by, 1)
@noisy
@cache
def f(n): return [max(shown(n), shown([n]), Row(n).twice // 2, Row(n).half(), reduce(max, [n]), partial(max, n)(0))]
""",
    "typing": """
from typing import Any, Callable, Generic, Iterable, Protocol, TypedDict, TypeVar, cast, get_type_hints, overload
T = TypeVar("T")
class Box(Generic[T]):
    def __init__(self, value: T) -> None: self.value = value
class Shape(Protocol):
    def area(self) -> float: ...
class Row(TypedDict):
    times: int
def f(n: int) -> list[int]: return [cast(int, Box[int](n).value) if get_type_hints(f) else 0]
""",
    "classes": """
class Row:
    def __init__(self, n): self.n = n
    @classmethod
    def make(cls, n): return cls(n)
    def get(self): return self.n
class Twice(Row):
    def __init__(self, n):
        super().__init__(2 * n)
        self.add = lambda: vars(self)["n"]
    @classmethod
    def make(kind, n): return super().make(n)
    def get(self):
        def inner(this): return super().get()
        return (super().get() + inner(self)) // 2
def f(n):
    class Local(Twice):
        def get(here): return super(Local, here).get() // 2
    return [Local.make(n).get()]
""",
    "the rest of what may be imported": """
from __future__ import annotations
import array, bisect, heapq, itertools, math, operator, re, string
def f(n):
    heap = list(heapq.merge([n], [9])); heapq.heapify(heap)
    found = re.sub(r"\\d", lambda m: m[0], str(n)), string.Template("$n").substitute(n=n), re.compile("(?P<n>.)", re.I)
    return [int(found[1]) if bisect.bisect(heap, 3) or array.array("i", [n]) else 0]
""",
}


@pytest.mark.parametrize("counter", ["", "opcode_counter"])
@pytest.mark.parametrize("what", HONEST)
def test_what_the_allowed_modules_offer_can_be_used(what: str, counter: str) -> None:
    source = HONEST[what]
    modules = tuple(beforehand(source, PLAIN_MODULES))
    said = answered(source, modules=modules, counter=confined_program.program(counter) if counter else "", key="k")
    assert said.get("answers") == [[3], [4]], said
    assert not counter or said["opcodes"] > 0


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    class B:\n        def f(self): return super().__init__()\n",
        "def super(*_): return 1\nclass A:\n    def f(self): return super()\n",
        "class __A:\n    def f(self): return super().__init__()\n",
        "class A:\n    def f(): return super()\n",
        "super(" * 2000 + ")" * 2000,
        "super(",
    ],
)
def test_what_cannot_be_written_out_stays_as_it_is(source: str) -> None:
    assert "__super__" not in written_out(source)


def test_functions_of_the_driver_are_out_of_reach() -> None:
    source = "import sys\ndef f(n): return sorted(vars(sys.modules['__main__']))"
    assert answered(source) == {"answers": [[], []]}


def test_a_refusal_cannot_be_caught() -> None:
    caught = "def f(n):\n    try: open('/etc/passwd')\n    except BaseException: pass\n    return n"
    assert answered(caught)["refused"] == ["open", "/etc/passwd"]


def test_new_builtins_do_not_turn_a_refusal_into_a_permission() -> None:
    """The hook calls nothing by name, because the submission may have replaced every name."""
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


@pytest.mark.parametrize("name", ["__main__.text", "builtins.type", "builtins.repr", "builtins.str"])
def test_the_answers_are_written_down_by_nothing_that_was_replaced(name: str) -> None:
    module, _, function = name.partition(".")
    source = f"""
import sys
def f(n):
    setattr(sys.modules["{module}"], "{function}", lambda *_, **__: 1)
    return [[n, "a", n / 2, None, True]]
"""
    assert answered(source)["answers"] == [[[n, "a", n / 2, None, True]] for n in (3, 4)]


def test_an_answer_is_not_asked_for_what_it_is() -> None:
    source = """
class Lazy:
    @property
    def __class__(self): raise ValueError("asked")
def f(n): return [Lazy()]
"""
    assert answered(source) == {"raised": ["TypeError", "no plain value: Lazy"]}
