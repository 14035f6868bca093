"""Unusual statements in all tools that take statements: they run as written, or one sentence refuses them."""

import os
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

import pytest

from harness import statements
from harness.callgrind.collect import Snippet, collect
from harness.errors import FairclockError
from harness.paired.blocks import checked_loop
from harness.storage.disk_cache import FOLDER_VARIABLE
from harness.suite import TimerArgs
from harness.suite.expand import Benchmark
from harness.suite.pool import SuiteWorker
from harness.suite.results import SuiteSettings

Call = Callable[[str, str], None]

LITERALS = 'a = """x\n  y\n"""; b = b"""x\n\ty"""; c = f"""x\n {1}\n"""; d = "x\\\n  y"'
TESTED = "assert (a, b, c, d) == ('x\\n  y\\n', b'x\\n\\ty', 'x\\n 1\\n', 'x  y')"
NAMES = "_wall_s, timer, _timer, _t, inner, _i, _it, calls, each, clock, function, names, finished, range, perf_counter"

READS = "sys.stdin.read()", "os.read(0, 1)", "open(0, closefd=False).read()", "subprocess.run('cat', stdout=-1).stdout"

TIMED: dict[str, tuple[str, ...]] = {
    "literals": (LITERALS, f"{LITERALS}\n{TESTED}"),
    "indented": ("  # a comment\n", f"\n\n    if True:\n      {LITERALS}\n    {TESTED}\n# a comment\n"),
    "tabs": ("if True:\n\tx = 1", "\tif x:\n\t\tx = 1\n"),
    "CRLF": ("x = [\r\n1]\r\n", 'if x:\r\n    y = """a\r\nb"""\r\n    assert y == "a\\nb"\r\n'),
    "Unicode": ("größe = 1\n\N{BLACK-LETTER CAPITAL H} = 2", "assert größe + H == 3  # é"),
    "names": (
        f"{NAMES} = [7] * 15",
        f"assert _wall_s == timer == 7; {NAMES} = [7] * 15; del {NAMES}; {NAMES} = [7] * 15",
    ),
    "builtins": ("iter = next = len = print = open = None", "range = exec = str = float = None"),
    "placeholders": ("SETUP = STATEMENT = FIRST = 1", "SETUP\nSTATEMENT\nFIRST"),
    "global": ("global n; n = 0", "global n; n += 1"),
    "decorator": ("def same(f): return f", "@same\ndef f(): return [same for _ in (1, 2)]\nf()"),
    "match": ("pass", "match 3:\n  case int(n): assert n == 3"),
    "star": ("from math import *", "assert floor(2.5) == 2  # a comment"),
    "future": ("x = 1\nfrom __future__ import annotations", "def f(x: unknown): pass"),
    "many lines": ("pass", "x = 1\n" * 5_000),
    "long elif": ("x = 0", "if x == 1: x\n" + "elif x == 2: x\n" * 500),
    "warnings": ("x = 1", "x is 1; '\\d'; assert (x, 'always true')"),
}
REFUSED: dict[str, tuple[str, ...]] = {
    "return": ("pass", "return 1", "'return' outside function in the line 'return 1'"),
    "await": ("async def f(): pass", "await f()", "asyncio.run"),
    "coroutine": ("async def f(): pass", "f()", r"asyncio\.run\(f\(\)\)"),
    "generator": ("def f(): yield", "f()", r"list\(f\(\)\)"),
    "break": ("pass", "x = 1\nbreak", "'break' outside loop in the line 'break'"),
    "backslash": ("pass", "x = 1 \\", "The statement is not valid Python"),
    "backslash in the setup": ("x = 1 \\", "pass", "The setup is not valid Python"),
    "open string": ("pass", "x = '''1", "unterminated"),
    "null byte": ("pass", "x\0", "null bytes"),
    "surrogate": ("pass", "'\ud800'", "surrogates"),
    "nested": ("pass", "(" * 300 + ")" * 300, "nested"),
    "deep": ("pass", "1" + "+1" * 5_000, "nested too deeply"),
    "empty": ("pass", " \n\t\n", "nothing to time"),
    "dedented": ("pass", "  x = 1\ny = 2", "less indentation"),
    "raises": ("x = 1\ny = 0", "x / y", "division by zero"),
    "setup raises": ("import nowhere", "pass", "No module named 'nowhere'"),
}
IN_PROCESSES: dict[str, tuple[str, ...]] = {
    "unreadable": ("class E(Exception):\n  def __str__(self): 1 / 0", "raise E", "E: it has no readable message"),
    "no input": ("import os, subprocess, sys", f"assert not ({' or '.join(READS)})", ""),
    "input": ("pass", "input()", "EOFError"),
    "prints": ("import os, sys", "print('x' * 99); os.write(1, b'x'); sys.stderr.write('x')", ""),
    "closes": ("import os; os.closerange(0, 2)", "pass", ""),
    "ends": ("import os", "os._exit(0)", "ended with exit status 0"),
    "crashes": ("import ctypes", "ctypes.string_at(0)", "was killed by SIGSEGV"),
    "lines": ("pass", "raise BaseException('a\\nb')", "BaseException: a b"),
    "later": ("n = 0", "n += 1\nif n > 2: 1 / 0", "division by zero"),
    "iterator": ("it = iter([1])", "x = next(it)", "StopIteration"),
}
CASES = {**TIMED, **REFUSED, **IN_PROCESSES}


def in_a_loop(setup: str, statement: str) -> None:
    names: dict[str, object] = {}
    checked_loop(statement, setup, names, time.perf_counter, time.perf_counter)[0](3)
    assert names == {}


def counted(setup: str, statement: str) -> None:
    snippet = Snippet(statement, setup, number=2)
    assert (found := collect(snippet)).stats.counts() > 0
    assert asdict(collect(snippet)) == asdict(found)  # from the cache


@pytest.fixture(scope="module")
def in_the_suite() -> Iterator[Call]:
    with SuiteWorker("time", tuple(os.sched_getaffinity(0))) as worker:

        def call(setup: str, statement: str) -> None:
            benchmark = Benchmark(("a",), "", "", TimerArgs(statement, setup))
            request = {"library": "", **asdict(SuiteSettings(min_run_time_s=1e-3)), **benchmark.code}
            if failure := worker.run(request, 60).get("failure"):
                raise FairclockError(failure)

        yield call


def run(call: Call, setup: str, statement: str, refusal: str = "") -> None:
    with pytest.raises(Exception, match=refusal) if refusal else nullcontext() as caught:
        call(setup, statement)
    assert caught is None or "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [*TIMED, *REFUSED])
def test_a_timing_loop_runs_statements_as_they_are_written_or_refuses_them_in_one_sentence(name: str) -> None:
    run(in_a_loop, *CASES[name])


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_the_suite_does_the_same(name: str, in_the_suite: Call) -> None:
    run(in_the_suite, *CASES[name])


@pytest.mark.long
@pytest.mark.program("valgrind")
@pytest.mark.parametrize("name", ["literals", "names", "star", "no input", "return", "coroutine", "setup raises"])
def test_instructions_of_statements_are_counted(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    run(counted, *CASES[name])


def test_a_traceback_shows_only_the_lines_of_the_statement() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        in_a_loop("def f():\n  return 1 / 0", "  x = 1\n  f()")
    _, call, function = "".join(traceback.format_exception(statements.of_statement(caught.value))).split(
        'File "<statement'
    )
    assert call.partition(">")[2].split("\n")[:2] == ['", line 2, in statement', "    f()"]
    assert function.partition(">")[2].split("\n")[:2] == ['", line 5, in f', "    return 1 / 0"]
