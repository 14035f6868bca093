"""Named values as horizontal bars, an SVG with words for those who cannot see it; `plots.bars` is the same as text."""

import math
from collections.abc import Sequence

from harness.markup import escaped
from harness.plots import Show
from harness.units import UNKNOWN, number

_WIDTH, _ROW, _TOP, _LABELS, _VALUES = 760, 22, 34, 420, 90
_MORE, _LESS = "#3b6ea5", "#b3261e"  # each at least 4.5:1 against white, and told apart by their side of the axis too
_LONGEST = 62
"""Characters of a label that fit; a longer one keeps its beginning and its end."""


def bar_chart_svg(rows: Sequence[tuple[str, float]], *, title: str, description: str = "", unit: Show = number) -> str:
    """Return a complete SVG document: one row a bar, from zero to the right, or to the left where it is negative.

    `title` and `description` are what a screen reader says; the rows are added to the description. A value that is not
    finite has no bar. Raises `ValueError` without any row.
    """
    if not rows:
        raise ValueError("A bar chart needs one row or more.")
    height = _TOP + _ROW * len(rows) + 8
    said = "; ".join(f"{label}: {_text(value, unit)}" for label, value in rows)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        f"<title>{escaped(title)}</title>",
        f"<desc>{escaped(f'{description} {said}.'.strip())}</desc>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="8" y="20" font-family="sans-serif" font-size="14" fill="#222222">{escaped(title)}</text>',
        '<g font-family="monospace" font-size="11" fill="#222222">',
        *_bars(rows, unit),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def shortened(label: str, most: int = _LONGEST) -> str:
    """Return a label of at most `most` characters, its middle left out."""
    if len(label) <= most:
        return label
    head = (most - 1) // 2
    return f"{label[:head]}…{label[head + 1 - most :]}"


def _bars(rows: Sequence[tuple[str, float]], unit: Show) -> list[str]:
    finite = [value for _, value in rows if math.isfinite(value)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    across = _WIDTH - _LABELS - _VALUES
    scale = across / ((high - low) or 1.0)
    zero = _LABELS - low * scale
    lines = []
    for index, (label, value) in enumerate(rows):
        y = _TOP + index * _ROW
        lines.append(f'<text x="8" y="{y + 14}">{escaped(shortened(label))}</text>')
        width = abs(value) * scale if math.isfinite(value) else 0.0
        x = zero if value >= 0 else zero - width
        if width:
            fill = _MORE if value >= 0 else _LESS
            lines.append(f'<rect x="{x:.1f}" y="{y + 3}" width="{max(width, 1):.1f}" height="15" fill="{fill}"/>')
        lines.append(f'<text x="{_WIDTH - _VALUES + 6}" y="{y + 14}">{escaped(_text(value, unit))}</text>')
    return lines


def _text(value: float, unit: Show) -> str:
    return unit(value) if math.isfinite(value) else UNKNOWN
