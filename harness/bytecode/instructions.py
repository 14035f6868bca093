"""The instructions of a code object, in one small set whatever version of CPython compiled it.

Versions differ: one jumps FORWARD_IF_FALSE and another just IF_FALSE, a later one loads two locals at once or has an
opcode of its own for a small number. `plain` takes that back. What is left is a stack machine's core:

    LOAD_FAST name        push a local                     COPY n     push the n-th value from the top once more
    LOAD_CONST value      push a constant                  SWAP n     exchange the top with the n-th from the top
    STORE_FAST name       pop, and name it                 POP_TOP    drop the top
    BINARY_OP symbol      pop right, pop left, push        JUMP n                  go on at instruction n
    COMPARE_OP symbol     the same                         POP_JUMP_IF_FALSE n     pop; if it is false, go on at n
    UNARY_NEGATIVE, UNARY_INVERT, UNARY_NOT                POP_JUMP_IF_TRUE n      pop; if it is true, go on at n
                                                           RETURN_VALUE            pop: the result

Calls, attributes, subscripts and exceptions are not in it. All is read from `dis`; an opcode that is not known is an
error that says so, never a guess. Source: the `dis` module's documentation, docs.python.org/3/library/dis.html
"""

import dis
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Final

from harness.errors import UsageError

CHECKED_ON: Final = ((3, 11), (3, 12), (3, 13), (3, 14), (3, 15))
"""Versions of CPython on which `plain` was checked: the plain instructions of generated programs, executed one by one,
gave what CPython itself gave. `tests/grader/tasks/test_13_run.py` does that on the version that runs it."""

NOTHING: Final = frozenset({"RESUME", "NOP", "CACHE", "PRECALL", "EXTENDED_ARG", "TO_BOOL", "NOT_TAKEN"})
"""Opcodes that leave the value stack as it is, or only prepare what the next one does anyway."""

SAME: Final = {
    "LOAD_FAST": "LOAD_FAST",
    "LOAD_FAST_CHECK": "LOAD_FAST",
    "LOAD_FAST_BORROW": "LOAD_FAST",
    "LOAD_CONST": "LOAD_CONST",
    "LOAD_SMALL_INT": "LOAD_CONST",
    "STORE_FAST": "STORE_FAST",
    "COPY": "COPY",
    "SWAP": "SWAP",
    "POP_TOP": "POP_TOP",
    "UNARY_NEGATIVE": "UNARY_NEGATIVE",
    "UNARY_INVERT": "UNARY_INVERT",
    "UNARY_NOT": "UNARY_NOT",
    "RETURN_VALUE": "RETURN_VALUE",
    "JUMP_FORWARD": "JUMP",
    "JUMP_BACKWARD": "JUMP",
    "JUMP_BACKWARD_NO_INTERRUPT": "JUMP",
    "POP_JUMP_IF_FALSE": "POP_JUMP_IF_FALSE",
    "POP_JUMP_FORWARD_IF_FALSE": "POP_JUMP_IF_FALSE",
    "POP_JUMP_BACKWARD_IF_FALSE": "POP_JUMP_IF_FALSE",
    "POP_JUMP_IF_TRUE": "POP_JUMP_IF_TRUE",
    "POP_JUMP_FORWARD_IF_TRUE": "POP_JUMP_IF_TRUE",
    "POP_JUMP_BACKWARD_IF_TRUE": "POP_JUMP_IF_TRUE",
}
"""Opcodes of one version or another, by what each does."""

PAIRS: Final = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
"""Opcodes that do the work of two, each with a name of its own."""

JUMPS: Final = frozenset({"JUMP", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE"})

SYMBOLS: Final = frozenset(("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>"))

Constant = None | bool | int | float | str


class UnknownOpcodeError(UsageError):
    """This code compiles to an opcode that is not among those known here."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of the plain set. A jump's argument is the index of the instruction to go on at."""

    name: str
    argument: Constant = None

    def __str__(self) -> str:
        return self.name if self.name in BARE else f"{self.name} {self.argument}"


BARE: Final = frozenset({"POP_TOP", "UNARY_NEGATIVE", "UNARY_INVERT", "UNARY_NOT", "RETURN_VALUE"})
"""Instructions without an argument."""


def checked() -> bool:
    """Return whether this version of Python is one that the plain set was checked on."""
    return sys.version_info[:2] in CHECKED_ON


def versions() -> str:
    """Return this version of Python and those that were checked: "Python 3.99 (checked on 3.11 to 3.15)"."""
    first, last = (f"{major}.{minor}" for major, minor in (CHECKED_ON[0], CHECKED_ON[-1]))
    return f"Python {sys.version_info.major}.{sys.version_info.minor} (checked on {first} to {last})"


def plain(code: CodeType) -> tuple[Instruction, ...]:
    """Return the instructions of a code object in the plain set.

    Raises `UnknownOpcodeError` for an opcode that is not in it or has another argument than in the versions that this
    was checked on; the message names them.
    """
    found: list[Instruction] = []
    place: dict[int, int] = {}
    for one in dis.get_instructions(code):
        place[one.offset] = len(found)
        found += _plain(one)
    if astray := [one for one in found if one.name in JUMPS and one.argument not in place]:
        raise UnknownOpcodeError(f"{astray[0]} leads to no instruction on {versions()}.")
    return tuple(Instruction(one.name, place[int(one.argument or 0)]) if one.name in JUMPS else one for one in found)


def _plain(one: dis.Instruction) -> Iterator[Instruction]:
    name = one.opname
    if name in SAME:
        yield Instruction(SAME[name], one.argval if one.arg is not None else None)
    elif name in PAIRS and isinstance(one.argval, tuple) and len(one.argval) == len(PAIRS[name]):
        yield from map(Instruction, PAIRS[name], one.argval)
    elif name == "BINARY_OP" and (symbol := one.argrepr.removesuffix("=")) in SYMBOLS:
        yield Instruction("BINARY_OP", symbol)
    elif name == "COMPARE_OP":
        yield Instruction("COMPARE_OP", str(one.argval).removeprefix("bool(").removesuffix(")"))
    elif name == "LOAD_COMMON_CONSTANT" and isinstance(one.argval, Constant):  # None, truth values and -1, from 3.15 on
        yield Instruction("LOAD_CONST", one.argval)
    elif name == "RETURN_CONST":
        yield Instruction("LOAD_CONST", one.argval)
        yield Instruction("RETURN_VALUE")
    elif name in {"JUMP_IF_FALSE_OR_POP", "JUMP_IF_TRUE_OR_POP"}:
        yield Instruction("COPY", 1)
        yield Instruction(f"POP_{name.removesuffix('_OR_POP')}", one.argval)
        yield Instruction("POP_TOP")
    elif name not in NOTHING:
        raise UnknownOpcodeError(
            f"{versions()} compiles this to {name}, which is none of the instructions known here. "
            "Use arithmetic, comparisons, locals and jumps alone."
        )
