"""Code that a benchmark must not time, because a call of it does not run its work."""

import asyncio
import contextlib
import csv
import functools
import io
import itertools
import os
import re
import sqlite3
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import torch

from harness.errors import UsageError
from harness.paired.blocks import timing_loop
from harness.paired.duel import duel
from harness.timeable import first_result


async def coroutine() -> None: ...


async def async_generator() -> AsyncIterator[int]:
    yield 1


def generator() -> Iterator[int]:
    yield 1


class Holder:
    @staticmethod
    async def static() -> None: ...

    def method(self) -> Iterator[int]:
        yield 1

    async def __call__(self) -> None: ...

    def __await__(self) -> Iterator[None]:
        yield None


def decorated(function: Callable[[], object]) -> Callable[[], object]:
    return functools.wraps(function)(lambda: [function()][0])


DATABASE = sqlite3.connect(":memory:")
AWAIT, LIST, DEF = r"asyncio\.run\({}\(\)\)", r"list\({}\(\)\)", r"asyncio\.run\(main\(\)\)` with `async def main"
ITERABLE: list[Any] = [[1], {}, "a", torch.ones(2), range(3)]
UNFINISHED: list[tuple[Any, str]] = [
    *((f, AWAIT) for f in (coroutine, Holder.static, Holder(), functools.partial(coroutine), decorated(coroutine))),
    *((f, LIST) for f in (generator, Holder().method, functools.partial(generator), decorated(generator))),
    *((functools.partial(iter, values), LIST) for values in ITERABLE),
    *((lambda f=f: f([]), LIST) for f in (enumerate, reversed, zip, csv.reader, itertools.chain, itertools.cycle)),
    (lambda: map(str, []), LIST),
    (lambda: re.finditer("a", "a"), LIST),
    (lambda: (x for x in "a"), LIST),
    (lambda: DATABASE.execute("select 1"), LIST),
    (Holder, DEF),
    (async_generator, DEF),
    (asyncio.new_event_loop().create_future, DEF),
    (Future, r"Future\(\)\.result\(\)"),
    (contextlib.contextmanager(generator), r"`with generator\(\): pass`"),
]


@pytest.mark.filterwarnings("error")
def test_a_call_that_does_not_run_its_work_is_refused_with_code_that_does() -> None:
    for function, right in UNFINISHED:
        name = getattr(function, "__name__", "f")
        with pytest.raises(UsageError, match=right.format(name if name.isidentifier() else "f")):
            first_result(function)


def test_a_call_with_a_complete_result_is_not_refused() -> None:
    DATABASE.execute("create table if not exists kept(x)")
    first_result(lambda: DATABASE.execute("insert into kept values (1)"))
    for function in (dict, print, weakref.WeakSet, contextlib.ExitStack):
        first_result(function)
    values: tuple[Any, ...] = (
        range(3),
        [1],
        {1: 2}.items(),
        torch.ones(2),
        io.StringIO(),
        weakref.proxy(Holder),
        DATABASE,
    )
    for value in values:
        first_result(lambda value=value: value)
    with Path(os.devnull).open() as file:
        assert first_result(lambda: file) is file


def test_what_is_not_a_function_without_arguments_is_refused_and_an_error_inside_it_is_its_own() -> None:
    for wrong, message in ((3, "3 is not a function"), (None, "Pass a function"), (b"f()", "not a function")):
        with pytest.raises(UsageError, match=message):
            first_result(wrong)  # type: ignore[arg-type]
    needs: tuple[Any, ...] = (lambda x: x, len, torch.sin, functools.partial(list[Any], 1, 2), re.compile)
    for function in needs:
        with pytest.raises(UsageError, match=r"Pass all arguments: `lambda: \w+\(…\)`"):
            first_result(function)
    with pytest.raises(TypeError, match="has no len"):
        first_result(lambda: len(3))  # type: ignore[arg-type]


STATEMENTS = "import asyncio\nasync def f(): ...\ndef g(): yield 1\nv = [1]"


def test_both_sides_of_a_duel_are_looked_at_once_as_functions_and_as_statements(
    capfd: pytest.CaptureFixture[str],
) -> None:
    lazy: list[Any] = [generator, "f()", "g()", "for _ in v: g()", "if v:\n    map(str, v)", "pass; (x for x in v)"]
    for code in lazy:
        with pytest.raises(UsageError, match="returns"):
            timing_loop(code, setup=STATEMENTS, check=True)
    for side, sides in (("candidate", ("g()", "pass")), ("baseline", ("pass", generator))):
        with pytest.raises(UsageError, match=f"In the {side}: `g"):
            duel(*sides, setup=STATEMENTS)
    fine = "x = g(); list(g()); asyncio.run(f())\ndef h():\n    g()\nclass C:\n    g()\n(lambda: g())\n'text'; v"
    timing_loop(fine, setup=STATEMENTS, check=True)(2)
    assert capfd.readouterr() == ("", "")
