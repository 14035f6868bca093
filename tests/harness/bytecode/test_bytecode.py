"""Instructions, their counts and the stack; and source texts that two threads parse at the same time."""

import ast
import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from harness import syntax
from harness.bytecode import instructions as module
from harness.bytecode.instructions import (
    CHECKED_ON,
    UnknownOpcodeError,
    count_opcodes,
    is_checked_version,
    plain_instructions,
    version_note,
)
from harness.bytecode.stack import stack_svg, stack_text, steps
from harness.errors import UsageError


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


def test_the_error_for_an_unknown_opcode_names_the_running_and_the_checked_versions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    with pytest.raises(UnknownOpcodeError, match=rf"{running} \(checked on 3\.11 to 3\."):
        plain_instructions(stack_text.__code__)
    assert is_checked_version() == (sys.version_info[:2] <= CHECKED_ON[-1])
    monkeypatch.setattr(module, "CHECKED_ON", ((3, 3), (3, 4)))
    assert not is_checked_version()
    assert version_note() == f"{running} (checked on 3.3 to 3.4)"


def test_jumps_and_too_few_arguments_are_refused_with_a_message() -> None:
    with pytest.raises(UsageError, match="climbs jumps"):
        steps(climbs, 3)
    with pytest.raises(UsageError, match="takes 3 arguments, not 1"):
        steps(formula, 2)


def test_a_picture_fits_its_width_and_the_svg_picture_describes_each_step() -> None:
    text = stack_text(steps(formula, 2, 3, 4), width=40)
    assert max(map(len, text.splitlines())) <= 40
    assert text.count("LOAD_FAST") == 4
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
    before = sys.gettrace()
    with pytest.raises(ZeroDivisionError):
        count_opcodes(lambda: 1 // 0)
    assert sys.gettrace() is before


def test_python_code_called_from_c_is_counted_and_c_is_not() -> None:
    by_key = count_opcodes(lambda: sorted(range(50), key=lambda n: -n))
    assert by_key.total() > count_opcodes(lambda: sorted(range(50))).total() + 50 * 3
    assert count_opcodes(lambda: sum(range(10))).total() == count_opcodes(lambda: sum(range(10_000))).total()


SOURCE = Path(ast.__file__).read_text(encoding="utf-8")


@pytest.fixture
def switches_inside_the_parser() -> Iterator[None]:
    """Run Python code at each of many garbage collections, so that threads also switch while a tree is built."""
    before = gc.get_threshold()

    def collected(*_: object) -> None:
        sum(range(50))

    gc.callbacks.append(collected)
    gc.set_threshold(50)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(collected)


@pytest.mark.usefixtures("switches_inside_the_parser")
def test_two_threads_may_parse_at_the_same_time() -> None:
    with ThreadPoolExecutor(2) as threads:
        trees = list(threads.map(syntax.parse, [SOURCE] * 30))
    assert {len(tree.body) for tree in trees} == {len(ast.parse(SOURCE).body)}
