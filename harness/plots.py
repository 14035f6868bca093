"""Pictures of samples: a few lines of terminal text, or a small SVG with words for those who cannot see it.

Pure functions from numbers to text. A picture shows at least a trace of everything that is there: one slow
sample among thousands is a bar of the lowest height, never nothing.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from harness.markup import escaped
from harness.units import UNKNOWN, number, seconds, some

_HEIGHTS = "▁▂▃▄▅▆▇█"
_WIDTHS = "▏▎▍▌▋▊▉█"

Show = Callable[[float], str]
"""How a number is written, as in `harness.units`."""


@dataclass(frozen=True, slots=True)
class Bins:
    """How many samples fell into each of `len(counts)` equally wide parts of [low, high]."""

    low: float
    high: float
    counts: tuple[int, ...]


def binned(samples: Sequence[float], bins: int) -> Bins:
    """Count the samples in `bins` parts of their range; equal samples share a single part.

    Raises `ValueError` for no samples, for one that is not finite, and for less than one bin.
    """
    if not samples or bins < 1 or not all(map(math.isfinite, samples)):
        raise ValueError("A histogram needs one bin or more, and samples that are all finite.")
    low, high = min(samples), max(samples)
    if low == high:
        return Bins(low, high, (len(samples),))
    counts = [0] * bins
    for sample in samples:
        counts[min(int((sample - low) / (high - low) * bins), bins - 1)] += 1
    return Bins(low, high, tuple(counts))


def histogram(samples: Sequence[float], bins: int = 16, unit: Show = seconds) -> str:
    """Return one line such as "104 µs ▁▃█▇▄▂▂▁▁▁▁     ▁ 188 µs": how many samples fell where."""
    parts = binned(samples, bins)
    most = max(parts.counts)
    bars = "".join(" " if n == 0 else _HEIGHTS[math.ceil(n / most * 8) - 1] for n in parts.counts)
    return f"{unit(parts.low)} {bars} {unit(parts.high)}"


def sparkline(values: Sequence[float]) -> str:
    """Return one character a value, in the order given; a value that is not finite is a space."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    step = (high - low) / (len(_HEIGHTS) - 1) or 1.0
    return "".join(_HEIGHTS[round((v - low) / step)] if math.isfinite(v) else " " for v in values)


def bars(rows: Sequence[tuple[str, float]], width: int = 40, unit: Show = number) -> str:
    """Return one line a row: label, a bar of at most `width` characters from zero, and the value.

    A value that is not finite has no bar; a negative one is a `ValueError`.
    """
    if any(value < 0 for _, value in rows):
        raise ValueError("Bars start at zero, so they cannot show a negative value.")
    longest = max((value for _, value in rows if math.isfinite(value)), default=0.0)
    margin = max((len(label) for label, _ in rows), default=0)
    return "\n".join(
        f"{label:<{margin}}  {_bar(value, longest, width)}{unit(value) if math.isfinite(value) else UNKNOWN}"
        for label, value in rows
    )


def _bar(value: float, longest: float, width: int) -> str:
    if not math.isfinite(value) or value == 0:
        return ""
    eighths = max(round(value / longest * width * 8), 1)
    rest = _WIDTHS[eighths % 8 - 1] if eighths % 8 else ""
    return f"{'█' * (eighths // 8)}{rest} "


_WIDTH, _HEIGHT, _MARGIN = 480, 160, 24
_BAR, _MEDIAN = (
    "#3b6ea5",
    "#b3261e",
)  # each at least 4.5:1 against white, and told apart by shape as well as hue


def histogram_svg(
    samples: Sequence[float], *, title: str, description: str = "", bins: int = 40, unit: Show = seconds
) -> str:
    """Return the histogram as a complete SVG document, its median marked.

    `title` and `description` are what a screen reader says; the figures are added to the description.
    """
    parts = binned(samples, bins)
    middle = median(samples)
    facts = f"{some(len(samples), 'sample')} from {unit(parts.low)} to {unit(parts.high)}, median {unit(middle)}."
    across = _WIDTH - 2 * _MARGIN
    floor = _HEIGHT - _MARGIN
    share = (middle - parts.low) / (parts.high - parts.low) if parts.high > parts.low else 0.5
    x = _MARGIN + across * share
    # Near an end, the label leans inwards so that none of it is cut off.
    leaning = "start" if share < 0.25 else "end" if share > 0.75 else "middle"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{escaped(title)}</title>",
        f"<desc>{escaped(f'{description} {facts}'.strip())}</desc>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        *_svg_bars(parts, across, floor),
        f'<path d="M{_MARGIN} {floor}H{_WIDTH - _MARGIN}" stroke="#444444"/>',
        f'<path d="M{x:.1f} {_MARGIN - 4}V{floor}" stroke="{_MEDIAN}" stroke-dasharray="4 3"/>',
        '<g font-family="sans-serif" font-size="12" fill="#222222">',
        _svg_text(x, _MARGIN - 9, leaning, f"median {unit(middle)}"),
        _svg_text(_MARGIN, _HEIGHT - 8, "start", unit(parts.low)),
        _svg_text(_WIDTH - _MARGIN, _HEIGHT - 8, "end", unit(parts.high)),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _svg_bars(parts: Bins, across: float, floor: float) -> list[str]:
    pitch = across / len(parts.counts)
    tallest = floor - _MARGIN
    heights = [max(n / max(parts.counts) * tallest, 1) for n in parts.counts]
    return [
        f'<rect x="{_MARGIN + i * pitch:.1f}" y="{floor - height:.1f}" width="{pitch * 0.9:.1f}" '
        f'height="{height:.1f}" fill="{_BAR}"/>'
        for i, height in enumerate(heights)
        if parts.counts[i]
    ]


def _svg_text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}">{escaped(text)}</text>'
