"""Pictures of a value stack, one a step: as characters for a terminal, and as an SVG with words beside it.

Pure functions from steps to text.
"""

import html
from collections.abc import Sequence

from harness.bytecode.stack import Step
from harness.units import some

_CELL, _GAP = 12, 2
_BOX, _ROW, _TOP, _LEFT = 104, 28, 58, 14
_FILL, _EDGE, _NEW = "#dce6f2", "#3b6ea5", "#f6dcd9"


def stack_text(taken: Sequence[Step], width: int = 72) -> str:
    """Return the stacks side by side, each above its instruction; what does not fit in `width` follows below."""
    across = max(1, (width + _GAP) // (_CELL + _GAP))
    parts = [taken[at : at + across] for at in range(0, len(taken), across)]
    return "\n\n".join(_band(part, max(step.depth for step in part)) for part in parts)


def _band(taken: Sequence[Step], height: int) -> str:
    between = " " * _GAP
    lines = [between.join(_slot(step, level) for step in taken) for level in reversed(range(height))]
    lines.append(between.join("└" + "─" * (_CELL - 2) + "┘" for _ in taken))
    lines.append(between.join(f"{step.instruction.name:<{_CELL}}" for step in taken))
    lines.append(between.join(f"{_after(step):<{_CELL}}" for step in taken))
    return "\n".join(line.rstrip() for line in lines)


def _slot(step: Step, level: int) -> str:
    text = _shown(step.stack[level], _CELL - 4) if level < step.depth else ""
    return f"│{text:^{_CELL - 2}}│" if text else f"│{'':{_CELL - 2}}│"


def _after(step: Step) -> str:
    """What the line under an instruction says: its argument, what it named, or the result."""
    one = step.instruction
    if one.name == "STORE_FAST":
        return _shown_whole(f"{one.argument} = {step.names[str(one.argument)]}")
    if one.name == "RETURN_VALUE":
        return _shown_whole(f"→ {step.result}")
    return "" if one.argument is None and one.name != "LOAD_CONST" else _shown_whole(str(one.argument))


def _shown(value: object, most: int) -> str:
    text = str(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _shown_whole(text: str) -> str:
    return _shown(text, _CELL)


def stack_svg(taken: Sequence[Step], *, title: str) -> str:
    """Return the same as a complete SVG document; its description says each step in words, for a screen reader."""
    height = max((step.depth for step in taken), default=0)
    width, floor = 2 * _LEFT + _BOX * len(taken), _TOP + _ROW * height
    said = "; ".join(f"{step.instruction}: {_in_words(step)}" for step in taken)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {floor + 52}" role="img">',
        f"<title>{html.escape(title)}</title>",
        f"<desc>{html.escape(said)}.</desc>",
        f'<rect width="{width}" height="{floor + 52}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="26" font-family="sans-serif" font-size="14" fill="#222222">{html.escape(title)}</text>',
        '<g font-family="monospace" font-size="11" fill="#222222" text-anchor="middle">',
    ]
    before = 0
    for place, step in enumerate(taken):
        lines += _column(step, _LEFT + place * _BOX, floor, before)
        before = step.depth
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


def _column(step: Step, x: int, floor: int, before: int) -> list[str]:
    """One step's stack; what was pushed by it is in another colour."""
    wide, middle = _BOX - 12, x + (_BOX - 12) / 2
    lines = []
    for level, value in enumerate(step.stack):
        y = floor - (level + 1) * _ROW
        new = level == step.depth - 1 and (step.depth > before or step.instruction.name in {"BINARY_OP", "COMPARE_OP"})
        fill = _NEW if new else _FILL
        box = f'<rect x="{x}" y="{y + 2}" width="{wide}" height="{_ROW - 4}" fill="{fill}" stroke="{_EDGE}"/>'
        lines += [box, f'<text x="{middle}" y="{y + 18}">{html.escape(_shown(value, 12))}</text>']
    lines.append(f'<path d="M{x} {floor}h{wide}" stroke="#444444" stroke-width="2"/>')
    lines.append(f'<text x="{middle}" y="{floor + 18}">{html.escape(step.instruction.name)}</text>')
    lines.append(f'<text x="{middle}" y="{floor + 34}">{html.escape(_after(step))}</text>')
    return lines


def _in_words(step: Step) -> str:
    if step.instruction.name == "RETURN_VALUE":
        return f"the result is {step.result}"
    values = ", ".join(_shown(value, 12) for value in step.stack)
    return f"{some(step.depth, 'value')} on the stack, from the bottom up {values}" if values else "the stack is empty"
