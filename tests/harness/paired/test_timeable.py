"""Code that a benchmark must not time, because a call of it does not run its work."""

import contextlib
import csv
import functools
import io
import itertools
import os
import sqlite3
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import torch

from harness.bytecode.instructions import count_opcodes
from harness.compilers.capture import traffic
from harness.errors import UsageError
from harness.machine.clocks import FakeClock, wall
from harness.memory.resident import memory_samples, peak_of, traced_peak
from harness.memory.tensors import tensor_memory
from harness.paired.blocks import checked_loop
from harness.paired.duel import duel
from harness.processes.launcher import KIT
from harness.timeable import first_result
from harness.torch_benchmark.grid import grid


async def coroutine() -> None: ...


def generator() -> Iterator[int]:
    yield 1


class Awaitable:
    def __await__(self) -> Iterator[None]:
        yield None


def decorated(function: Callable[[], object]) -> Callable[[], object]:
    return functools.wraps(function)(lambda: [function()][0])


DATABASE = sqlite3.connect(":memory:")
AWAIT, LIST, DEF = r"asyncio\.run\({}\(\)\)", r"list\({}\(\)\)", r"asyncio\.run\(main\(\)\)` with `async def main"
UNFINISHED: list[tuple[Any, str]] = [
    *((f, AWAIT) for f in (coroutine, functools.partial(coroutine), decorated(coroutine))),
    *((f, LIST) for f in (generator, functools.partial(generator), decorated(generator))),
    *((lambda values=values: iter(values), LIST) for values in ([1], "a", torch.ones(2))),
    *((lambda f=f: f([]), LIST) for f in (enumerate, zip, csv.reader, itertools.chain)),
    (lambda: map(str, []), LIST),
    (lambda: DATABASE.execute("select 1"), LIST),
    (Awaitable, DEF),
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
        {1: 2}.items(),
        torch.ones(2),
        io.StringIO(),
        weakref.proxy(Awaitable),
        DATABASE,
    )
    for value in values:
        first_result(lambda value=value: value)


def test_what_is_not_a_function_without_arguments_is_refused_and_an_error_inside_it_is_its_own() -> None:
    with pytest.raises(UsageError, match="3 is not a function"):
        first_result(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"Pass all arguments: `lambda: len\(…\)`"):
        first_result(len)
    with pytest.raises(TypeError, match="has no len"):
        first_result(lambda: len(3))  # type: ignore[arg-type]


STATEMENTS = "import asyncio\nasync def f(): ...\ndef g(): yield 1\nv = [1]"


def test_both_sides_of_a_duel_are_looked_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    for code in ("f()", "for _ in v: g()", "if v:\n    map(str, v)", "pass; (x for x in v)"):
        with pytest.raises(UsageError, match="returns"):
            checked_loop(code, STATEMENTS, {}, wall, wall)
    with pytest.raises(UsageError, match="In the baseline: `g"):
        duel("pass", generator, setup=STATEMENTS)
    fine = "x = g(); list(g()); f().close()\ndef h():\n    g()\nclass C:\n    g()\n(lambda: g())\n'text'; v"
    checked_loop(fine, STATEMENTS, {}, wall, wall)
    assert capfd.readouterr() == ("", "")


def test_no_other_measurement_takes_a_generator_function_either() -> None:
    sampled = functools.partial(memory_samples, interval_s=1)
    entries: tuple[Callable[..., object], ...] = (peak_of, sampled, tensor_memory, traced_peak, count_opcodes, traffic)
    for measure in (*entries, lambda code: grid({"f": lambda n: n == 1 or code()}, lambda n: (n,), [1, 2])):
        with pytest.raises(UsageError, match=r"returns an iterator \(generator\)"):
            measure(generator)


class Hidden:
    """Attributes that a comparison of the variables before and after a call does not see, as those of a compiler."""

    __slots__ = ("calls", "clock")

    def __init__(self, clock: FakeClock) -> None:
        self.clock, self.calls = clock, 0

    def warm_up(self) -> None:
        self.clock.advance(1e-3 if self.calls == 0 else 1e-5)
        self.calls += 1

    def drift(self) -> None:
        self.calls += 1
        self.clock.advance(1e-6 * self.calls)


CACHED = "from functools import lru_cache\nf = lru_cache(lambda n: clock.advance(n / 1000))"
STATE = [
    ("n = 0", "n += 1; clock.advance(n * 1e-6)", "which change `n`: its late calls"),
    ("v = [1000]", "clock.advance(max(v) * 1e-6); v[:] = [10]", "which change `v`: its first call took 67"),
    ("it = iter(range(1000))", "clock.advance(sum(1e-6 for _ in it))", "which change `it`: its first call"),
    (CACHED, "f(1)", "which change `f`: its first call"),
    ("class C: n = 1000\nc = C()", "clock.advance(c.n * 1e-6); c.n = 10", "which change `c`: its first call"),
    ("def f(v=[]): v.append(1); clock.advance(len(v) * 1e-6)", "f()", "`a default value`: its late calls"),
    ("pass", "hidden.drift()", "of its calls: its late calls"),
    ("pass", "hidden.warm_up()", ""),  # ordinary: it compiles, imports, or fills the processor's caches
    ("n = 0", "n += 1", ""),  # a change without effect on the cost
]


@pytest.mark.parametrize(("setup", "code", "words"), STATE)
def test_code_that_changes_its_own_cost_is_named_on_both_sides(setup: str, code: str, words: str) -> None:
    clock = FakeClock()
    names = {"clock": clock, "hidden": Hidden(clock)}
    sides = [f"clock.advance(5e-6); {code}", "clock.advance(1e-5)"]
    side = "baseline" if setup == CACHED else "candidate"
    if side == "baseline":
        sides.reverse()
    code_setup = {f"{side}_setup": setup}
    outcome = duel(*sides, **code_setup, globals=names, clock=clock, wall=clock, budget_s=0.05)  # type: ignore[arg-type]
    assert (f"The cost of the {side} depends" in outcome.state) == bool(words)
    assert words in outcome.state
    assert outcome.state in str(outcome)


def test_a_function_is_compared_with_its_arguments_its_object_and_the_functions_that_it_calls() -> None:
    values, clock = [1000], FakeClock()

    def helper() -> bool:
        clock.advance(max(values) * 1e-6)
        values[:] = [10]
        return False

    functions: list[Callable[[], object]] = [
        lambda: helper(),  # noqa: PLW0108 - a function that calls another
        functools.partial(lambda given: helper() or given, values),
    ]
    for function, name in zip(functions, ("values", "argument 1"), strict=True):
        values[:] = [1000]
        outcome = duel(function, lambda: clock.advance(1e-5), clock=clock, wall=clock, budget_s=0.05)
        assert f"`{name}" in outcome.state, name


@pytest.mark.long
def test_no_function_of_the_standard_library_or_of_torch_is_faster_than_itself(tmp_path: Path) -> None:
    script = [sys.executable, "tests/benchmarks/functions.py", str(tmp_path / "found.jsonl"), "--number", "10"]
    environment = {**os.environ, "PYTHONPATH": str(KIT)}
    done = subprocess.run(script, cwd=KIT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len((tmp_path / "found.jsonl").read_text().splitlines()) == 30
