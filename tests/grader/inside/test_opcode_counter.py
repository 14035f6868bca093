"""Opcodes are counted in the driver's process: which code counts, and that a submission cannot change the count."""

import sys
from collections.abc import Mapping
from typing import Any

import pytest
from test_counted_driver import answered

from grader.isolation import confined_program

COUNTER = confined_program.program("opcode_counter")
LOOP = "def f(n):\n    total = 0\n    for i in range({}):\n        total += i\n    return total\n"
LOST, ODD = -1, -2


def said(source: str, **given: Any) -> Mapping[str, Any]:
    return answered(source, counter=COUNTER, key="the key", **given)


def opcodes(source: str, **given: Any) -> int:
    count = said(source, **given)["opcodes"]
    assert isinstance(count, int)
    return count


def test_the_sum_comes_with_the_key_and_without_a_counter_there_is_none() -> None:
    assert said(LOOP.format(5)).keys() == {"answers", "key", "opcodes"}
    assert said(LOOP.format(5))["key"] == "the key"
    assert answered(LOOP.format(5)).keys() == {"answers"}


def test_the_sum_is_the_same_each_time_and_grows_by_the_round() -> None:
    ten, twenty, thirty = (opcodes(LOOP.format(n)) for n in (10, 20, 30))
    assert opcodes(LOOP.format(10)) == ten
    assert thirty - twenty == twenty - ten >= 2 * 10 * 4


CALLED_BY_C = {
    "the key of a sort": "sorted([n], key=work)",
    "the callback of a dead reference": "one = [C()]; r = sys.modules['_weakref'].ref(one[0], work); one.clear()",
    "a finalizer": "C.__del__ = work; C()",
    "a generator that is closed": "g = generator(); next(g); g.close()",
    "a comparison": "C.__eq__ = work; [C()].index(1)",
    "what isinstance asks for": "C.__getattribute__ = work; isinstance(C(), int)",
    "an import hook": "sys.modules['own'] = C(); C.__getattr__ = work; from own import thing",
    "a namespace of another kind": "exec('x', {}, type('D', (dict,), {'__getitem__': work})())",
}


@pytest.mark.parametrize("work", CALLED_BY_C.values(), ids=CALLED_BY_C)
def test_nothing_that_c_calls_works_unseen(work: str) -> None:
    source = f"""
import sys
done = []
class C: pass
def work(*_):
    for i in range(300): pass
    done.append(1)
    return 1
def generator():
    try: yield 1
    finally: work()
def f(n):
    try: {work}
    except TypeError: pass
    return len(done)
"""
    whole = said(source)
    assert max(whole["answers"]) >= 1
    assert whole["opcodes"] > 600 * max(whole["answers"]) or whole["opcodes"] == ODD


def test_work_at_import_is_counted_and_work_in_c_is_one_opcode() -> None:
    assert opcodes("for i in range(1000): pass\ndef f(n): return n") > 2000
    assert opcodes("def f(n): return sum(range(9999))") == opcodes("def f(n): return sum(range(9))")


@pytest.mark.parametrize("name", ["gettrace", "setprofile", "monitoring"])
def test_nothing_of_the_counter_has_a_name(name: str) -> None:
    assert said(f"import sys\ndef f(n): return sys.{name}")["raised"][0] == "AttributeError"


def test_nobody_gets_hold_of_the_names_of_a_frame() -> None:
    assert said("def f(n): return locals()")["raised"][0] == "NameError"
    assert said("def f(n): return vars()")["raised"][0] == "TypeError"
    attributes = "class A:\n    def __init__(self): self.x = 1\n"
    source = f"{attributes}def f(n): return [list(vars(A())), hasattr(vars, '__globals__')]"
    assert said(source)["answers"][0] == [["x"], False]


DROPS = {
    "a local name": "dropped = Dropped(); dropped = None",
    "an argument": "rebind(Dropped())",
    "a name of a generator that is resumed": "list(resumed())",
    "a cell that another frame sets": "set_cell()",
    "a global name": "globals().update(kept=Dropped()); globals().update(kept=None)",
    "a name of executed code": "exec('one = Dropped(); one = None', {'Dropped': Dropped})",
}
"""Statements that each drop the last reference to a new `Dropped`."""


@pytest.mark.parametrize("statement", DROPS.values(), ids=DROPS)
def test_the_opcodes_of_a_finalizer_are_counted(statement: str) -> None:
    source = f"""
class Dropped:
    def __del__(self):
        for i in range(5000): pass
        done.append(1)
done = []
def rebind(one):
    one = None
def resumed():
    one = Dropped()
    yield 1
    one = None
    yield 2
def set_cell():
    one = Dropped()
    def inner():
        nonlocal one
        one = None
    inner()
    return one
def f(n):
    {statement}
    return len(done)
"""
    whole = said(source)
    assert whole["answers"] == [1, 2]
    assert whole["opcodes"] > 2 * 2 * 5000


def test_builtins_that_were_replaced_change_neither_sum_nor_key() -> None:
    forged = """
import builtins, sys
def f(n):
    builtins.repr = lambda value: '1'
    builtins.id = builtins.len = lambda *_: 1 // 0
    return None
"""
    harmless = forged.replace("import builtins, sys", "import sys as builtins, sys")
    assert said(forged) == said(harmless)


@pytest.mark.parametrize(
    "source",
    [
        "def g(n):\n    try: return g(n + 1)\n    except RecursionError: return n\ndef f(n): return g(n)",
        "def g(n): return g(n + 1)\ndef f(n):\n    try: g(n)\n    except RecursionError: return n",
        "def g(n): return max([n], key=g)\ndef f(n):\n    try: g(n)\n    except RecursionError: return n",
    ],
    ids=["caught in the deepest frame", "caught in the first frame", "through C"],
)
def test_a_recursion_that_reaches_its_limit_leaves_no_sum(source: str) -> None:
    whole = said(source)
    assert whole.get("refused", [""])[0] == "sys.settrace" or whole["opcodes"] == LOST


def test_a_class_with_a_cell_of_its_own_leaves_no_sum() -> None:
    cell = "class C:\n    def m(self): return __class__\n"
    assert opcodes(f"{cell}def f(n): return n") == ODD
    within = "class A:\n    class B:\n        def m(self): return super().__init__()\n"
    assert opcodes(f"{within}def f(n): return n") == ODD
    assert opcodes("class C:\n    def m(self): return super().__init__()\ndef f(n): return C().m()") > 0
    assert opcodes("class C:\n    x = 1\n    def m(self): return self.x\ndef f(n): return C().m()") > 0


def test_a_namespace_in_which_others_may_act_is_counted_or_leaves_no_sum() -> None:
    """Python 3.11 gives no sum for such a namespace. Python 3.12 and later count the opcodes of its methods."""
    source = """
class N(dict):
    def __getitem__(self, name):
        for i in range(500): pass
        return 1
class M(type):
    def __prepare__(*_): return N()
class C(metaclass=M): x = y
def f(n): return n
"""
    sum_or_none = opcodes(source)
    assert sum_or_none > 500 * 2 if sys.version_info >= (3, 12) else sum_or_none == ODD
