"""Draw a function's value stack after each instruction, as terminal text or as an SVG picture with a description."""

from collections.abc import Sequence

from harness.bytecode.stack import StackStep
from harness.charts import svg
from harness.rendering.units import some

_CELL, _GAP = 12, 2
_BOX, _ROW, _TOP, _LEFT = 104, 28, 58, 14
_FILL, _NEW = "#dce6f2", "#f6dcd9"


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
    text = str(value)
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
