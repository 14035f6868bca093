"""Translate a code object to instructions that are the same for every version of CPython, and count executed opcodes.

Each version of CPython has other opcodes. `plain_instructions` translates them to those of a stack machine:

    LOAD_FAST name        push a local                     COPY n     push the n-th value from the top once more
    LOAD_CONST value      push a constant                  SWAP n     exchange the top with the n-th from the top
    STORE_FAST name       pop, and store under the name    POP_TOP    drop the top
    BINARY_OP symbol      pop right, pop left, push        JUMP n                  continue at instruction n
    COMPARE_OP symbol     the same                         POP_JUMP_IF_FALSE n     pop; if false, continue at n
    UNARY_NEGATIVE, UNARY_INVERT, UNARY_NOT                POP_JUMP_IF_TRUE n      pop; if true, continue at n
                                                           RETURN_VALUE            pop: the result

Calls, attributes, subscripts and exceptions are not supported. Source: docs.python.org/3/library/dis.html
"""

import dis
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any, Final

from harness.errors import UsageError
from harness.timeable import finished

CHECKED_ON: Final = ((3, 11), (3, 12), (3, 13), (3, 14), (3, 15))
"""The versions of CPython with which `tests/grader/tasks/test_truth_tables.py` was run: the results are CPython's."""

NO_EFFECT: Final = frozenset({"RESUME", "NOP", "CACHE", "PRECALL", "EXTENDED_ARG", "TO_BOOL", "NOT_TAKEN"})
"""Opcodes that do not change the value stack. `plain_instructions` leaves them out."""

JUMPS: Final = frozenset({"JUMP", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE"})

NO_ARGUMENT: Final = frozenset({"POP_TOP", "UNARY_NEGATIVE", "UNARY_INVERT", "UNARY_NOT", "RETURN_VALUE"})
"""The names of the instructions that have no argument."""

PLAIN_NAMES: Final = JUMPS | NO_ARGUMENT | {"LOAD_FAST", "LOAD_CONST", "STORE_FAST", "COPY", "SWAP"}
"""The names of the instructions, except BINARY_OP and COMPARE_OP, whose arguments are translated too."""

# Versions of CPython have variants of these instructions, such as POP_JUMP_FORWARD_IF_FALSE and LOAD_FAST_BORROW.
_VARIANT: Final = re.compile(r"_(CHECK|BORROW|FORWARD|BACKWARD|NO_INTERRUPT)(?=_|$)")

# Opcodes that load or store two local variables. Each one is translated to two instructions.
_DOUBLE: Final = re.compile(r"((?:LOAD|STORE)_FAST)_((?:LOAD|STORE)_FAST)")

SYMBOLS: Final = frozenset(("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>"))

Constant = None | bool | int | float | str


class UnknownOpcodeError(UsageError):
    """The code contains an opcode that is not supported."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction that `plain_instructions` returns. The argument of a jump is the index of its target."""

    name: str
    argument: Constant = None

    def __str__(self) -> str:
        return self.name if self.name in NO_ARGUMENT else f"{self.name} {self.argument}"


def is_checked_version() -> bool:
    """Return whether this module was tested with the running version of Python."""
    return sys.version_info[:2] in CHECKED_ON


def version_note() -> str:
    """Return a text with the running and the tested versions of Python: "Python 3.99 (checked on 3.11 to 3.15)"."""
    first, last = (f"{major}.{minor}" for major, minor in (CHECKED_ON[0], CHECKED_ON[-1]))
    return f"Python {sys.version_info.major}.{sys.version_info.minor} (checked on {first} to {last})"


def plain_instructions(code: CodeType) -> tuple[Instruction, ...]:
    """Translate a code object to instructions that are the same for every version of CPython, and return them.

    Raise `UnknownOpcodeError` if an opcode is unknown or has an unexpected argument. The message names the opcode, and
    the running and the tested versions of Python.
    """
    found: list[Instruction] = []
    place: dict[int, int] = {}
    for one in dis.get_instructions(code):
        place[one.offset] = len(found)
        found += _plain(one)
    if lost := [one for one in found if one.name in JUMPS and one.argument not in place]:
        raise UnknownOpcodeError(
            f"The jump {lost[0]} has no target on {version_note()}. Use a checked version of Python."
        )
    return tuple(Instruction(one.name, place[int(one.argument or 0)]) if one.name in JUMPS else one for one in found)


def _plain(one: dis.Instruction) -> Iterator[Instruction]:
    name = one.opname
    plain = "LOAD_CONST" if name == "LOAD_SMALL_INT" else _VARIANT.sub("", name)
    if plain in PLAIN_NAMES:
        yield Instruction(plain, one.argval if one.arg is not None else None)
    elif (double := _DOUBLE.fullmatch(plain)) and isinstance(one.argval, tuple) and len(one.argval) == 2:
        yield from map(Instruction, double.groups(), one.argval)
    elif name == "BINARY_OP" and (symbol := one.argrepr.removesuffix("=")) in SYMBOLS:
        yield Instruction("BINARY_OP", symbol)
    elif name == "COMPARE_OP":
        yield Instruction("COMPARE_OP", str(one.argval).removeprefix("bool(").removesuffix(")"))
    elif name == "LOAD_COMMON_CONSTANT" and isinstance(one.argval, Constant):  # None, truth values and -1, since 3.15
        yield Instruction("LOAD_CONST", one.argval)
    elif name == "RETURN_CONST":
        yield Instruction("LOAD_CONST", one.argval)
        yield Instruction("RETURN_VALUE")
    elif name in {"JUMP_IF_FALSE_OR_POP", "JUMP_IF_TRUE_OR_POP"}:
        yield Instruction("COPY", 1)
        yield Instruction(f"POP_{name.removesuffix('_OR_POP')}", one.argval)
        yield Instruction("POP_TOP")
    elif name not in NO_EFFECT:
        raise UnknownOpcodeError(
            f"{version_note()} compiles this to {name}, which is not supported. "
            "Use only arithmetic, comparisons, locals and jumps."
        )


def count_opcodes(function: Callable[..., object], *arguments: object) -> "Counter[str]":
    """Call a function, and return the number of executions of each opcode in all Python code that ran.

    Python code that C code calls is counted too. A call of a C function counts as one opcode (two in Python 3.11), even
    if it takes a long time. So the number of opcodes is not a measure of time. Specialised (adaptive) instructions are
    counted under the name of the general instruction.

    Exceptions of the function are not caught. Raise `UsageError` if other tools use all tool slots of `sys.monitoring`,
    or if the function only returns a coroutine or an iterator.
    """
    places: Counter[tuple[CodeType, int]] = Counter()
    run = _monitored if sys.version_info >= (3, 12) else _traced
    finished(run(function, arguments, places), f"{getattr(function, '__name__', 'f')}()", function=True)
    names: Counter[str] = Counter()
    for (code, offset), times in places.items():
        names[dis.opname[code.co_code[offset]]] += times
    return names


def _traced(function: Callable[..., object], arguments: tuple[object, ...], places: Counter[Any]) -> object:
    def local(frame: FrameType, event: str, _: object) -> None:
        if event == "opcode":
            places[frame.f_code, frame.f_lasti] += 1

    def enter(frame: FrameType, _event: str, _: object) -> Any:
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return local

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        return function(*arguments)
    finally:
        sys.settrace(before)


def _monitored(function: Callable[..., object], arguments: tuple[object, ...], places: Counter[Any]) -> object:
    monitoring = getattr(sys, "monitoring")  # noqa: B009 - Python 3.11 does not have it, so mypy does not know it
    tool, event = next((id_ for id_ in range(6) if not monitoring.get_tool(id_)), None), monitoring.events.INSTRUCTION
    if tool is None:
        raise UsageError("Other tools use all tool slots of sys.monitoring. Stop a debugger or profiler and try again.")

    def add(code: CodeType, offset: int) -> None:
        places[code, offset] += 1

    own = sys._getframe().f_code  # noqa: SLF001 - opcodes of this function are not counted
    monitoring.use_tool_id(tool, "fairclock")
    monitoring.register_callback(tool, event, add)
    try:
        monitoring.set_events(tool, event)
        result = function(*arguments)
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
    for place in [place for place in places if place[0] is own]:
        del places[place]
    return result
