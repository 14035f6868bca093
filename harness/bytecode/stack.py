"""Compute the value stack of a function after each instruction, for code without jumps.

This module executes the instructions in Python. CPython's interpreter does the same in C. The last step holds the
result. A caller can compare it with the result of a real call.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harness.bytecode.instructions import JUMPS, Instruction, plain_instructions
from harness.errors import UsageError

BINARY: Final[Mapping[str, Callable[[Any, Any], object]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
UNARY: Final[Mapping[str, Callable[[Any], object]]] = {
    "UNARY_NEGATIVE": operator.neg,
    "UNARY_INVERT": operator.invert,
    "UNARY_NOT": operator.not_,
}


@dataclass(frozen=True, slots=True)
class StackStep:
    """One instruction, and the state after it: the value stack from bottom to top, and the local variables by name.

    `result` is the function's result if the instruction is RETURN_VALUE.
    """

    instruction: Instruction
    stack: tuple[object, ...]
    names: dict[str, object] = field(hash=False)
    result: object = None

    @property
    def depth(self) -> int:
        """The number of values on the stack."""
        return len(self.stack)


def steps(function: Callable[..., object], *arguments: object) -> list[StackStep]:
    """Execute a function instruction by instruction, and return one step per instruction.

    Raise `UnknownOpcodeError` if an opcode is unknown. Raise `UsageError` if the function contains a jump, or if the
    number of arguments is wrong.
    """
    code = function.__code__
    if len(arguments) != code.co_argcount:
        raise UsageError(f"{function.__name__} takes {code.co_argcount} arguments, not {len(arguments)}.")
    stack: list[object] = []
    names = dict(zip(code.co_varnames, arguments, strict=False))
    taken: list[StackStep] = []
    for one in plain_instructions(code):
        if one.name in JUMPS:
            raise UsageError(f"{function.__name__} jumps ({one}); only code without jumps can be drawn.")
        result = stack[-1] if one.name == "RETURN_VALUE" else None
        _execute(one, stack, names)
        taken.append(StackStep(one, tuple(stack), dict(names), result))
    return taken


def _execute(one: Instruction, stack: list[object], names: dict[str, object]) -> None:
    argument = one.argument
    if one.name in UNARY:
        stack.append(UNARY[one.name](stack.pop()))
    elif one.name in {"BINARY_OP", "COMPARE_OP"}:
        right, left = stack.pop(), stack.pop()
        stack.append(BINARY[str(argument)](left, right))
    elif one.name == "LOAD_FAST":
        stack.append(names[str(argument)])
    elif one.name == "LOAD_CONST":
        stack.append(argument)
    elif one.name == "STORE_FAST":
        names[str(argument)] = stack.pop()
    elif one.name == "COPY":
        stack.append(stack[-int(argument or 1)])
    elif one.name == "SWAP":
        place = -int(argument or 1)
        stack[-1], stack[place] = stack[place], stack[-1]
    else:  # POP_TOP, RETURN_VALUE
        stack.pop()
