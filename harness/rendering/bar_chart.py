"""Draw named values as horizontal bars in an SVG picture. `harness.rendering.plots.bars` draws them as text."""

import math
from collections.abc import Sequence

from harness.rendering import svg
from harness.rendering.units import Format, known, number

_WIDTH, _ROW, _TOP, _LABELS, _VALUES = 760, 22, 34, 420, 90
_LONGEST = 62


def bar_chart_svg(
    rows: Sequence[tuple[str, float]], *, title: str, description: str = "", unit: Format = number
) -> str:
    """Return an SVG document with one horizontal bar per row. A bar of a negative value goes to the left of zero.

    A screen reader reads `title`, `description` and the rows. A value that is not finite has no bar. Raise `ValueError`
    if there are no rows.
    """
    if not rows:
        raise ValueError("A bar chart needs one row or more.")
    facts = "; ".join(f"{label}: {known(value, unit)}" for label, value in rows)
    shapes = [
        svg.label(8, 20, title, size=14),
        svg.group(_bars(rows, unit), font_family="monospace", font_size=11, fill=svg.INK),
    ]
    height = _TOP + _ROW * len(rows) + 8
    return svg.document(_WIDTH, height, shapes, title=title, description=f"{description} {facts}.")


def shortened(label: str, most: int = _LONGEST) -> str:
    """Return the label with at most `most` characters. In a longer label, `…` replaces the middle."""
    if len(label) <= most:
        return label
    head = (most - 1) // 2
    return f"{label[:head]}…{label[head + 1 - most :]}"


def _bars(rows: Sequence[tuple[str, float]], unit: Format) -> list[str]:
    finite = [value for _, value in rows if math.isfinite(value)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    scale = (_WIDTH - _LABELS - _VALUES) / ((high - low) or 1.0)
    zero = _LABELS - low * scale
    shapes = []
    for index, (label, value) in enumerate(rows):
        y = _TOP + index * _ROW
        shapes.append(svg.text(8, y + 14, shortened(label)))
        if width := abs(value) * scale if math.isfinite(value) else 0.0:
            x, fill = (zero, svg.BLUE) if value >= 0 else (zero - width, svg.RED)
            shapes.append(svg.rect(x, y + 3, max(width, 1), 15, fill=fill))
        shapes.append(svg.text(_WIDTH - _VALUES + 6, y + 14, known(value, unit)))
    return shapes
