import sys
from collections.abc import Callable
from types import CodeType
from xml.etree import ElementTree as ET

import pytest

from harness.bytecode import CHECKED_ON, UnknownOpcodeError, checked, executed, plain, stack_svg, stack_text, steps
from harness.bytecode import instructions as module
from harness.errors import UsageError


def formula(a: float, b: float, c: float) -> float:
    d = a + b * c
    return d  # noqa: RET504 - the store is part of it


def mixed(a: float, b: float) -> object:
    c = -(a % b) // 2 if a else ~7
    return not (c < b < 10 and a)


def climbs(n: int) -> int:
    total = i = 0
    while i < n:
        total += i
        i += 1
    return total


@pytest.mark.parametrize(("function", "arguments"), [(formula, (2, 3, 4)), (formula, (0.5, -1.0, 8.0))])
def test_the_pictures_end_with_what_the_function_returns(
    function: Callable[..., object], arguments: tuple[float, ...]
) -> None:
    assert steps(function, *arguments)[-1].result == function(*arguments)


def test_the_stack_is_shown_after_each_instruction() -> None:
    taken = steps(formula, 2, 3, 4)
    assert [step.stack for step in taken] == [(2,), (2, 3), (2, 3, 4), (2, 12), (14,), (), (14,), ()]
    assert str(taken[3].instruction) == "BINARY_OP *"
    assert taken[5].names == {"a": 2, "b": 3, "c": 4, "d": 14}


def test_every_spelling_of_an_instruction_comes_out_in_the_plain_set() -> None:
    names = {one.name for function in (formula, mixed, climbs) for one in plain(function.__code__)}
    assert names <= {*module.SAME.values(), "BINARY_OP", "COMPARE_OP"}
    targets = [one.argument for one in plain(mixed.__code__) if one.name in module.JUMPS]
    assert targets
    assert all(isinstance(target, int) and 0 <= target < len(plain(mixed.__code__)) for target in targets)


def test_what_is_not_known_is_an_error_that_names_the_versions_checked() -> None:
    with pytest.raises(UnknownOpcodeError, match=r"checked on 3\.11") as told:
        plain(test_every_spelling_of_an_instruction_comes_out_in_the_plain_set.__code__)
    assert f"Python {sys.version_info.major}.{sys.version_info.minor}" in str(told.value)


def test_a_version_that_nobody_has_checked_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECKED_ON", ((3, 3),))
    assert not checked()
    assert CHECKED_ON[0] == (3, 11)


def test_code_that_jumps_and_too_few_arguments_are_refused_in_words() -> None:
    with pytest.raises(UsageError, match="climbs jumps"):
        steps(climbs, 3)
    with pytest.raises(UsageError, match="takes 3 arguments, not 1"):
        steps(formula, 2)


def test_a_picture_fits_its_width_and_says_the_result() -> None:
    text = stack_text(steps(formula, 2, 3, 4), width=40)
    assert max(map(len, text.splitlines())) <= 40
    assert text.count("LOAD_FAST") == 4
    assert "→ 14" in text
    assert "1234567…" in stack_text(steps(formula, 10, 123456789123, 1))


def test_the_drawn_picture_is_a_document_with_words_for_each_step() -> None:
    drawn = ET.fromstring(stack_svg(steps(formula, 2, 3, 4), title="a < b & c"))  # noqa: S314 - our own
    said = drawn.findtext("{http://www.w3.org/2000/svg}desc") or ""
    assert "3 values on the stack, from the bottom up 2, 3, 4" in said
    assert "the result is 14" in said


def test_executed_opcodes_are_as_many_each_time_and_grow_with_the_work() -> None:
    assert executed(climbs, 10) == executed(climbs, 10)
    more = executed(climbs, 20).total() - executed(climbs, 10).total()
    assert more == executed(climbs, 30).total() - executed(climbs, 20).total()
    assert more >= 10 * 5


def test_straight_code_executes_each_of_its_instructions_once() -> None:
    assert executed(formula, 2, 3, 4)["BINARY_OP"] == 2


def test_what_is_called_from_c_is_counted_and_c_itself_is_not() -> None:
    by_key = executed(lambda: sorted(range(50), key=lambda n: -n))
    assert by_key.total() > executed(lambda: sorted(range(50))).total() + 50 * 3
    assert executed(lambda: sum(range(10))).total() == executed(lambda: sum(range(10_000))).total()


def test_counting_ends_with_the_call_even_when_it_raises() -> None:
    before = sys.gettrace()
    with pytest.raises(ZeroDivisionError):
        executed(lambda: 1 // 0)
    assert sys.gettrace() is before


def test_a_jump_backwards_leads_to_the_row_it_leads_to() -> None:
    """Executed by hand: the plain rows of a loop come to what the loop comes to."""
    assert by_hand(climbs.__code__, 7) == climbs(7)


def by_hand(code: CodeType, n: int) -> object:
    """A machine for the loop above alone."""
    rows, names, stack, at = plain(code), {"n": n}, [], 0
    while True:
        one, at = rows[at], at + 1
        if one.name == "LOAD_FAST":
            stack.append(names[str(one.argument)])
        elif one.name == "LOAD_CONST":
            stack.append(int(one.argument or 0))
        elif one.name == "STORE_FAST":
            names[str(one.argument)] = stack.pop()
        elif one.name == "COPY":
            stack.append(stack[-1])
        elif one.name in {"BINARY_OP", "COMPARE_OP"}:
            right, left = stack.pop(), stack.pop()
            stack.append(left + right if one.argument == "+" else left < right)
        elif one.name == "RETURN_VALUE":
            return stack.pop()
        elif one.name == "JUMP" or bool(stack.pop()) is (one.name == "POP_JUMP_IF_TRUE"):
            at = int(one.argument or 0)
