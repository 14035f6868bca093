"""Instructions of Python and their stack, sources that two threads parse at once, and instructions of a processor."""

import ast
import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCount, FunctionCounts

from harness import syntax
from harness.bytecode.instructions import (
    UnknownOpcodeError,
    count_opcodes,
    plain_instructions,
)
from harness.bytecode.stack import stack_svg, stack_text, steps
from harness.callgrind import child, lookups, script, tools
from harness.callgrind.collect import Snippet
from harness.callgrind.lookups import denoise
from harness.callgrind.script import count_script
from harness.errors import UsageError
from harness.storage import disk_cache


def formula(a: float, b: float, c: float) -> float:
    d = a + b * c
    return d  # noqa: RET504 - the store is part of it


def climbs(n: int) -> int:
    total = i = 0
    while i < n:
        total += i
        i += 1
    return total


def test_the_stack_is_shown_after_each_instruction() -> None:
    taken = steps(formula, 2, 3, 4)
    assert [step.stack for step in taken] == [(2,), (2, 3), (2, 3, 4), (2, 12), (14,), (), (14,), ()]
    assert str(taken[3].instruction) == "BINARY_OP *"
    assert taken[-1].result == 14
    assert taken[5].names == {"a": 2, "b": 3, "c": 4, "d": 14}


def test_jumps_wrong_arguments_and_unknown_opcodes_are_refused() -> None:
    with pytest.raises(UsageError, match="climbs jumps"):
        steps(climbs, 3)
    with pytest.raises(UsageError, match="takes 3 arguments, not 1"):
        steps(formula, 2)
    with pytest.raises(UsageError, match="starred"):
        steps(lambda *a: a)
    with pytest.raises(UnknownOpcodeError, match="checked on"):
        plain_instructions(stack_text.__code__)


def test_a_picture_fits_its_width_and_the_svg_picture_describes_each_step() -> None:
    text = stack_text(steps(formula, 2, 3, 4), width=40)
    assert max(map(len, text.splitlines())) <= 40
    assert "→ 14" in text
    assert "1234567…" in stack_text(steps(formula, 10, 123456789123, 1))
    drawn = ET.fromstring(stack_svg(steps(formula, 2, 3, 4), title="a < b & c"))  # noqa: S314 - our own
    said = drawn.findtext("{http://www.w3.org/2000/svg}desc") or ""
    assert "3 values on the stack, from the bottom up 2, 3, 4" in said
    assert "the result is 14" in said


def test_counts_are_one_per_executed_instruction_and_counting_ends_with_the_call_even_when_it_raises() -> None:
    assert count_opcodes(formula, 2, 3, 4)["BINARY_OP"] == 2
    ten, twenty, thirty = (count_opcodes(climbs, n).total() for n in (10, 20, 30))
    assert thirty - twenty == twenty - ten >= 10 * 5
    by_key = count_opcodes(lambda: sorted(range(50), key=lambda n: -n))  # Python code called from C counts, C does not
    assert by_key.total() > count_opcodes(lambda: sorted(range(5000))).total() + 50 * 3
    before = sys.gettrace()
    with pytest.raises(ZeroDivisionError):
        count_opcodes(lambda: 1 // 0)
    assert sys.gettrace() is before


SOURCE = Path(ast.__file__).read_text(encoding="utf-8")


@pytest.mark.long
def test_two_threads_may_parse_at_the_same_time() -> None:
    """Run Python code at each of many garbage collections, so that threads also switch while a tree is built."""

    def collected(*_: object) -> None:
        sum(range(50))

    before = gc.get_threshold()
    gc.callbacks.append(collected)
    gc.set_threshold(50)
    with ThreadPoolExecutor(2) as threads:
        trees = list(threads.map(syntax.parse, [SOURCE] * 30))
    gc.set_threshold(*before)
    gc.callbacks.remove(collected)
    assert {len(tree.body) for tree in trees} == {len(ast.parse(SOURCE).body)}


CPP = Snippet("x * y;", 'auto n = std::atol(std::getenv("N"));', language="cpp", environment={"N": "1"})


def test_only_compiled_snippets_that_differ_in_the_environment_share_a_program_and_have_their_own_counts() -> None:
    other = replace(CPP, environment={"N": "128"}, runs=2)
    assert other.program == CPP.program
    assert other.key != CPP.key
    python = Snippet("x * y", environment={"N": "1"})
    assert replace(python, environment={"N": "128"}).program != python.program


def test_a_counted_process_has_fixed_hashes_and_no_gpu() -> None:
    found = tools.environment(Path("/shims"), {"CUDA_VISIBLE_DEVICES": "0", "PYTHONHASHSEED": "7", "PATH": "/bin"})
    path = os.pathsep.join(["/shims", str(Path(sys.executable).parent), "/bin"])
    assert found == {"CUDA_VISIBLE_DEVICES": "", "PYTHONHASHSEED": tools.HASH_SEED, "PATH": path}


@pytest.mark.skipif(sys.platform == "win32", reason="runs scripts of a shell")
def test_valgrind_starts_without_instrumentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("valgrind", "callgrind_control"):
        (tmp_path / name).write_text('#!/bin/sh\necho "$@"\n', encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (folder := tmp_path / "shims").mkdir()
    command = [str(child._shims(folder) / "valgrind"), "--instr-atstart=yes", "python"]
    printed = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    assert printed.split() == [f"--vgdb-prefix={folder / 'vgdb'}", "--instr-atstart=no", "python"]


PROFILE = """# callgrind format
positions: line
events: Ir
fl=(1) words.c
fn=(1) main
10 5
cfn=(2) next_word
calls=3 20
11 60
cfn=(2)
calls=2 20
12 40
fn=(2)
20 70
cfi=(2) letters.c
cfn=(3) is_letter
calls=15 30
21 30
fl=(2)
fn=(3)
30 30
totals: 105
"""


def test_a_function_has_exclusive_and_inclusive_instructions_and_those_of_a_recursive_call_once() -> None:
    profile = script.parse(PROFILE.splitlines())
    assert profile.exclusive == {"words.c:main []": 5, "words.c:next_word []": 70, "letters.c:is_letter []": 30}
    assert profile.inclusive == {"words.c:main []": 105, "words.c:next_word []": 100, "letters.c:is_letter []": 30}
    assert profile.total == 105
    assert profile.calls == {"words.c:next_word []": 5, "letters.c:is_letter []": 15}
    recursive = PROFILE.replace("30 30\ntotals", "30 30\ncfn=(3)\ncalls=5 30\n31 20\ntotals")
    assert script.parse(recursive.splitlines()).inclusive == profile.inclusive
    with pytest.raises(script.ProfileError, match="no total"):
        script.parse(PROFILE.replace("totals", "subtotals").splitlines())


def counts(*spent: tuple[str, int]) -> FunctionCounts:
    return FunctionCounts(tuple(FunctionCount(count, f"???:{name} [/usr/bin/python3]") for name, count in spent), False)


def test_lookups_of_first_and_last_key_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def count(sources: list[str]) -> list[SimpleNamespace]:
        """Run the scripts without valgrind. Return a count of one instruction per step of a lookup."""
        results, looks = [], lookups.LOOKS
        for source in sources:
            defined: dict[str, Any] = {}
            exec(source, defined)  # noqa: S102 - a script of this house
            steps = 1 + list(defined["numbers"]).index(defined["key"])
            spent = counts(("0x53", looks * steps), ("0x52", looks - steps), ("_PyEval", 9 * looks * steps))
            results.append(SimpleNamespace(exclusive=spent))
        return results

    monkeypatch.setenv(disk_cache.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr(lookups, "count_scripts", count)
    monkeypatch.setattr(tools, "lacking", str)
    lookups.nameless.cache_clear()
    found = lookups.nameless()
    lookups.nameless.cache_clear()
    assert found == {"???:0x53"}


@pytest.mark.long
@pytest.mark.valgrind
def test_the_nameless_lookup_of_this_python_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(disk_cache.FOLDER_VARIABLE, str(tmp_path))
    lookups.nameless.cache_clear()
    script = "table = {str(n): n for n in range(1000)}; [table[key] for key in list(table)]"
    of_a_script = count_script(script).exclusive
    found = of_a_script - denoise(of_a_script)
    lookups.nameless.cache_clear()
    assert 0 < found.sum() < of_a_script.sum() / 3
