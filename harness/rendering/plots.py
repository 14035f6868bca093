"""Draw histograms, bars and sparklines as terminal text, and a histogram as an SVG picture.

A histogram shows every sample. Even a single slow sample among thousands has a visible bar.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from harness.rendering import svg
from harness.rendering.units import Format, known, number, seconds, some

_HEIGHTS = "▁▂▃▄▅▆▇█"
_WIDTHS = "▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class Bins:
    """A histogram's counts: the number of samples in each of `len(counts)` equally wide parts of [low, high]."""

    low: float
    high: float
    counts: tuple[int, ...]


def binned(samples: Sequence[float], bins: int) -> Bins:
    """Return the number of samples in each of `bins` equal parts of their range.

    If all samples are equal, there is only one part.

    Raise `ValueError` if there are no samples, if a sample is not finite, or if `bins` is below one.
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


def histogram(samples: Sequence[float], bins: int = 16, unit: Format = seconds) -> str:
    """Return a histogram as one line, such as "104 µs ▁▃█▇▄▂▂▁▁▁▁ ▁ 188 µs"."""
    parts = binned(samples, bins)
    most = max(parts.counts)
    bars = "".join(" " if n == 0 else _HEIGHTS[math.ceil(n / most * 8) - 1] for n in parts.counts)
    return f"{unit(parts.low)} {bars} {unit(parts.high)}"


def sparkline(values: Sequence[float]) -> str:
    """Return one bar character per value, higher for larger values. A value that is not finite becomes a space."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    step = (high - low) / (len(_HEIGHTS) - 1) or 1.0
    return "".join(_HEIGHTS[round((v - low) / step)] if math.isfinite(v) else " " for v in values)


def bars(rows: Sequence[tuple[str, float]], width: int = 40, unit: Format = number) -> str:
    """Return one line per row: the label, a bar of at most `width` characters, and the value.

    A value that is not finite has no bar. Raise `ValueError` for a negative value.
    """
    if any(value < 0 for _, value in rows):
        raise ValueError("Bars start at zero, so they cannot show a negative value.")
    longest = max((value for _, value in rows if math.isfinite(value)), default=0.0)
    margin = max((len(label) for label, _ in rows), default=0)
    return "\n".join(f"{label:<{margin}}  {_bar(value, longest, width)}{known(value, unit)}" for label, value in rows)


def _bar(value: float, longest: float, width: int) -> str:
    if not math.isfinite(value) or value == 0:
        return ""
    eighths = max(round(value / longest * width * 8), 1)
    rest = _WIDTHS[eighths % 8 - 1] if eighths % 8 else ""
    return f"{'█' * (eighths // 8)}{rest} "


_WIDTH, _HEIGHT, _MARGIN = 480, 160, 24


def histogram_svg(
    samples: Sequence[float], *, title: str, description: str = "", bins: int = 40, unit: Format = seconds
) -> str:
    """Return a histogram as a complete SVG document with a dashed line at the median.

    A screen reader reads `title`, `description`, and the number, range and median of the samples.
    """
    parts = binned(samples, bins)
    middle = median(samples)
    facts = f"{some(len(samples), 'sample')} from {unit(parts.low)} to {unit(parts.high)}, median {unit(middle)}."
    floor, right = _HEIGHT - _MARGIN, _WIDTH - _MARGIN
    share = (middle - parts.low) / (parts.high - parts.low) if parts.high > parts.low else 0.5
    x = _MARGIN + (right - _MARGIN) * share
    # Near the left or right end, the label extends to the middle, so that the picture's edge does not cut it off.
    anchor = "start" if share < 0.25 else "end" if share > 0.75 else "middle"
    shapes = [
        *_svg_bars(parts, right - _MARGIN, floor),
        svg.line((_MARGIN, floor), (right, floor)),
        svg.line((x, _MARGIN - 4), (x, floor), stroke=svg.RED, stroke_dasharray="4 3"),
        svg.label(x, _MARGIN - 9, f"median {unit(middle)}", text_anchor=anchor),
        svg.label(_MARGIN, _HEIGHT - 8, unit(parts.low)),
        svg.label(right, _HEIGHT - 8, unit(parts.high), text_anchor="end"),
    ]
    return svg.document(_WIDTH, _HEIGHT, shapes, title=title, description=f"{description} {facts}")


def _svg_bars(parts: Bins, across: float, floor: float) -> list[str]:
    pitch = across / len(parts.counts)
    heights = {i: max(n / max(parts.counts) * (floor - _MARGIN), 1) for i, n in enumerate(parts.counts) if n}
    return [svg.rect(_MARGIN + i * pitch, floor - y, pitch * 0.9, y, fill=svg.BLUE) for i, y in heights.items()]
