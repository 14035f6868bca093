"""Compute and draw the value stack of a function after each instruction, for code without jumps."""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType
from typing import Any, Final

from harness.bytecode.instructions import JUMPS, Instruction, plain_instructions
from harness.charts import svg
from harness.errors import UsageError
from harness.rendering.texts import shown
from harness.rendering.units import some

_CELL, _GAP = 12, 2
_BOX, _ROW, _TOP, _LEFT = 104, 28, 58, 14
_FILL, _NEW = "#dce6f2", "#f6dcd9"

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
    if not isinstance(function, FunctionType):
        raise UsageError(f"{function!r} is not a function that is written in Python.")
    code = function.__code__
    if code.co_kwonlyargcount or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS):
        raise UsageError(f"{function.__name__} has a parameter that is starred or has to be named; remove it.")
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


def stack_text(steps: Sequence[StackStep], width: int = 72) -> str:
    """Return the stacks of `steps` side by side as text, each above its instruction.

    A row of stacks has at most `width` characters.
    """
    across = max(1, (width + _GAP) // (_CELL + _GAP))
    parts = [steps[at : at + across] for at in range(0, len(steps), across)]
    return "\n\n".join(_band(part, max(step.depth for step in part)) for part in parts)


def _band(steps: Sequence[StackStep], height: int) -> str:
    between = " " * _GAP
    lines = [between.join(_slot(step, level) for step in steps) for level in reversed(range(height))]
    lines.append(between.join("└" + "─" * (_CELL - 2) + "┘" for _ in steps))
    lines.append(between.join(f"{step.instruction.name:<{_CELL}}" for step in steps))
    lines.append(between.join(f"{_after(step):<{_CELL}}" for step in steps))
    return "\n".join(line.rstrip() for line in lines)


def _slot(step: StackStep, level: int) -> str:
    text = _shortened(step.stack[level], _CELL - 4) if level < step.depth else ""
    return f"│{text:^{_CELL - 2}}│"


def _after(step: StackStep) -> str:
    one = step.instruction
    if one.name == "STORE_FAST":
        return _shortened(f"{one.argument} = {step.names[str(one.argument)]}")
    if one.name == "RETURN_VALUE":
        return _shortened(f"→ {step.result}")
    return "" if one.argument is None and one.name != "LOAD_CONST" else _shortened(one.argument)


def _shortened(value: object, most: int = _CELL) -> str:
    text = shown(str(value), lines=False)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def stack_svg(steps: Sequence[StackStep], *, title: str) -> str:
    """Return the stacks of `steps` as a complete SVG document.

    The description of the document, for a screen reader, describes each step in words.
    """
    height = max((step.depth for step in steps), default=0)
    width, floor = 2 * _LEFT + _BOX * len(steps), _TOP + _ROW * height
    words = "; ".join(f"{step.instruction}: {_in_words(step)}" for step in steps)
    depths = [0, *(step.depth for step in steps)]
    places = range(_LEFT, width, _BOX)
    columns = [shape for at in zip(steps, places, depths, strict=False) for shape in _column(floor, *at)]
    shapes = [
        svg.text(_LEFT, 26, title, font_size=14),
        svg.group(columns, font_family="monospace", font_size=11, text_anchor="middle"),
    ]
    return svg.document(width, floor + 52, shapes, title=title, description=f"{words}.")


def _column(floor: int, step: StackStep, x: int, depth_before: int) -> list[str]:
    wide, middle = _BOX - 12, x + _BOX / 2 - 6
    pushed = step.depth > depth_before or step.instruction.name in {"BINARY_OP", "COMPARE_OP"}
    shapes = []
    for level, value in enumerate(step.stack):
        y = floor - (level + 1) * _ROW
        fill = _NEW if pushed and level == step.depth - 1 else _FILL
        shapes.append(svg.rect(x, y + 2, wide, _ROW - 4, fill=fill, stroke="#3b6ea5"))
        shapes.append(svg.text(middle, y + 18, _shortened(value), class_="", fill="#222222"))
    return [
        *shapes,
        svg.line((x, floor), (x + wide, floor), stroke_width=2),
        svg.text(middle, floor + 18, step.instruction.name),
        svg.text(middle, floor + 34, _after(step)),
    ]


def _in_words(step: StackStep) -> str:
    if step.instruction.name == "RETURN_VALUE":
        return f"the result is {step.result}"
    values = ", ".join(_shortened(value) for value in step.stack)
    return f"{some(step.depth, 'value')} on the stack, from the bottom up {values}" if values else "the stack is empty"
