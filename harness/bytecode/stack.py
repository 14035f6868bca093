"""The value stack of a function, after each instruction: straight-line code alone, made to be looked at.

This is a model, in Python, of what CPython does in C; `steps` ends with the model's result, to be compared with the
function's own.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harness.bytecode.instructions import JUMPS, Instruction, plain
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
class Step:
    """One instruction, and what there is after it: the value stack from the bottom up, and the locals by name."""

    instruction: Instruction
    stack: tuple[object, ...]
    names: dict[str, object] = field(hash=False)
    result: object = None

    @property
    def depth(self) -> int:
        """How many values lie on the stack."""
        return len(self.stack)


def steps(function: Callable[..., object], *arguments: object) -> list[Step]:
    """Return one step an instruction, to the return.

    Raises `UnknownOpcodeError` as `plain` does, and `UsageError` for code that jumps or too few arguments.
    """
    code = function.__code__
    if len(arguments) != code.co_argcount:
        raise UsageError(f"{function.__name__} takes {code.co_argcount} arguments, not {len(arguments)}.")
    stack: list[object] = []
    names = dict(zip(code.co_varnames, arguments, strict=False))
    taken: list[Step] = []
    for one in plain(code):
        if one.name in JUMPS:
            raise UsageError(f"{function.__name__} jumps ({one}); pictures are of code that runs straight through.")
        result = stack[-1] if one.name == "RETURN_VALUE" else None
        _execute(one, stack, names)
        taken.append(Step(one, tuple(stack), dict(names), result))
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
