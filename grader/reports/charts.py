"""Numbers → the geometry of a small chart, and the words that stand for it where it is not seen. Pure.

A chart is drawn by the macro in `charts.html`, in units of which it is `WIDTH` wide: on a phone one of them is about a
pixel, so that its letters stay readable. Colours are the page's, by class.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal

from harness import units

WIDTH: Final = 310
HEIGHT: Final = 124
FLOOR: Final = 104
"""Where bars stand; below it are the labels of the axis."""
TOP: Final = 32
"""Where the tallest bar ends; above it are its figure and the labels of marks."""
LEFT, RIGHT = 6, WIDTH - 6

Show = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle; `look` names its colour, `says` is shown where a pointer rests."""

    x: float
    y: float
    width: float
    height: float
    look: str = "bar"
    says: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A line from (x, y) to (right, bottom)."""

    x: float
    y: float
    right: float
    bottom: float
    look: str = "axis"


@dataclass(frozen=True, slots=True)
class Word:
    """A label at (x, y), its `anchor` the end that stands there."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "middle", "end"] = "middle"
    look: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture ready to draw. `label` says in words all that matters of it."""

    label: str
    boxes: tuple[Box, ...]
    rules: tuple[Rule, ...]
    words: tuple[Word, ...]
    height: int = HEIGHT
    width: int = WIDTH


@dataclass(frozen=True, slots=True)
class Axis:
    """Values from `low` to `high` laid out from left to right; what lies beyond stands at the end."""

    low: float
    high: float
    log: bool = False

    def share(self, value: float) -> float:
        """Where a value lies, from 0 at `low` to 1 at `high`."""
        if not self.low < self.high:
            return 0.5
        scale: Callable[[float], float] = math.log if self.log else float
        low, high, at = scale(self.low), scale(self.high), scale(value)
        return min(max((at - low) / (high - low), 0.0), 1.0)

    def x(self, value: float) -> float:
        """Where a value is drawn."""
        return round(LEFT + self.share(value) * (RIGHT - LEFT), 1)

    def edge(self, share: float) -> float:
        """The value that lies at `share`."""
        if self.log:
            return self.low * math.exp(share * math.log(self.high / self.low))
        return self.low + share * (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Mark:
    """A value on the axis worth a line and a word, such as a tier."""

    value: float
    text: str
    look: str = "mark"


def ratio_axis(values: Sequence[float], marks: Sequence[float] = ()) -> Axis:
    """An axis for ratios, as wide as they and the marks, with a little room; ratios that are no number have none."""
    usable = [value for value in (*values, *marks) if 0 < value < math.inf]
    low, high = min(usable, default=1.0), max(usable, default=1.0)
    room = max((high / low) ** 0.05, 1.005)
    return Axis(low / room, high * room, log=True)


def bulk(values: Sequence[float], share: float = 0.02) -> tuple[float, float]:
    """From where to where all but `share` of the values lie at either end. Raises `ValueError` for none."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("There is no bulk of no values.")
    cut = int(len(ordered) * share)
    return ordered[cut], ordered[-1 - cut]


def histogram(
    values: Sequence[float],
    axis: Axis,
    *,
    label: str,
    bins: int = 20,
    unit: Show = units.number,
    marks: Sequence[Mark] = (),
    band: tuple[float, float] | None = None,
) -> Chart:
    """How many values lie where. What lies beyond the axis is counted in its first or last bar.

    `band` is shaded behind the bars. `label` begins the words, to which the figures are added.
    """
    counts = counted(values, axis, bins)
    most = max(counts, default=0)
    pitch = (RIGHT - LEFT) / bins
    boxes = [
        Box(
            round(LEFT + number * pitch, 1),
            round(FLOOR - height, 1),
            round(pitch * 0.9, 1),
            round(height, 1),
            says=f"{units.count(n)}: {unit(axis.edge(number / bins))} to {unit(axis.edge((number + 1) / bins))}",
        )
        for number, n in enumerate(counts)
        if n and (height := max(n / most * (FLOOR - TOP), 1.5))
    ]
    shade = []
    if band:
        left, right = axis.x(band[0]), axis.x(band[1])
        shade = [Box(left, TOP - 14, max(round(right - left, 1), 1.0), FLOOR - TOP + 14, "band")]
    rules = [Rule(LEFT, FLOOR, RIGHT, FLOOR), *(_line(axis, mark) for mark in marks)]
    ends = [Word(LEFT, FLOOR + 15, unit(axis.low), "start"), Word(RIGHT, FLOOR + 15, unit(axis.high), "end")]
    ends += _peak(boxes, most)
    said = f"{label}: {in_words(values, unit)}" + "".join(f" {mark.text} at {unit(mark.value)}." for mark in marks)
    return Chart(said, (*shade, *boxes), tuple(rules), (*ends, *_labels(axis, marks)))


def counted(values: Sequence[float], axis: Axis, bins: int) -> tuple[int, ...]:
    """How many values lie in each of `bins` equal parts of the axis; what is no number, in none."""
    counts = [0] * bins
    for value in values:
        if not math.isnan(value):
            beyond = value if not axis.log or value > 0 else axis.low
            counts[min(int(axis.share(min(beyond, axis.high)) * bins + 1e-9), bins - 1)] += 1
    return tuple(counts)


def in_words(values: Sequence[float], unit: Show) -> str:
    """What a histogram shows, for those who do not see it."""
    known = sorted(value for value in values if not math.isnan(value))
    if not known:
        return "no values."
    if known[0] == known[-1]:
        return f"{units.count(len(known))}, all {unit(known[0])}."
    half = f", half of them within {unit(known[len(known) // 4])} and {unit(known[-1 - len(known) // 4])}"
    return (
        f"{units.count(len(known))} from {unit(known[0])} to {unit(known[-1])}, median {unit(median(known))}"
        f"{half if len(known) > 4 else ''}."
    )


def ladder(ratio: float, low: float, high: float, tiers: Sequence[Mark], *, label: str) -> Chart:
    """A measured ratio with its interval among the tiers, on one line."""
    axis = ratio_axis([ratio, low, high, 1.0], [tier.value for tier in tiers])
    y = 38
    left, right, middle = axis.x(low), axis.x(high), axis.x(ratio)
    boxes = (
        Box(left, y - 5, max(round(right - left, 1), 2.0), 10, "interval"),
        Box(round(middle - 1.5, 1), y - 9, 3, 18, "bar"),
    )
    rules = [Rule(LEFT, y, RIGHT, y), *(Rule(axis.x(t.value), y - 15, axis.x(t.value), y + 15, t.look) for t in tiers)]
    words = [Word(middle, y + 27, units.ratio(ratio), _anchor(axis.share(ratio)), "strong"), *_labels(axis, tiers)]
    return Chart(label, boxes, tuple(rules), tuple(words), height=72)


def course(
    spans: Sequence[tuple[float, float, float] | None], axis: Axis, *, label: str, begin: str, end: str, unit: Show
) -> Chart:
    """How a figure went over time: of each equal stretch its lowest, median and highest value, or None for no value.

    `axis` is that of the values, from the floor upwards.
    """
    pitch = (RIGHT - LEFT) / max(len(spans), 1)

    def y(value: float) -> float:
        return round(FLOOR - axis.share(value) * (FLOOR - TOP), 1)

    boxes = []
    for number, span in enumerate(spans):
        if span:
            low, middle, high = span
            at, top = LEFT + number * pitch, y(high)
            boxes.append(Box(round(at, 1), top, round(pitch * 0.8, 1), max(round(y(low) - top, 1), 1.0), "interval"))
            boxes.append(Box(round(at, 1), round(y(middle) - 1, 1), round(pitch * 0.8, 1), 2, "bar"))
    words = (
        Word(LEFT, FLOOR + 15, begin, "start"),
        Word(RIGHT, FLOOR + 15, end, "end"),
        Word(LEFT, TOP - 5, unit(axis.high), "start"),
        Word(LEFT, FLOOR - 3, unit(axis.low), "start"),
    )
    return Chart(label, tuple(boxes), (Rule(LEFT, FLOOR, RIGHT, FLOOR),), words)


def columns(heights: Sequence[float], *, label: str, begin: str, end: str) -> Chart:
    """One column for each equal stretch of something, such as time."""
    most = max(heights, default=0.0)
    pitch = (RIGHT - LEFT) / max(len(heights), 1)
    boxes = tuple(
        Box(round(LEFT + number * pitch, 1), round(FLOOR - height, 1), round(pitch * 0.9, 1), round(height, 1))
        for number, value in enumerate(heights)
        if value > 0 and (height := max(value / most * (FLOOR - TOP), 1.5))
    )
    words = (Word(LEFT, FLOOR + 15, begin, "start"), Word(RIGHT, FLOOR + 15, end, "end"), *_peak(boxes, most))
    return Chart(label, boxes, (Rule(LEFT, FLOOR, RIGHT, FLOOR),), words)


def _peak(boxes: Sequence[Box], most: float) -> list[Word]:
    """The figure of the tallest bar, above it: it gives the others their scale."""
    if not boxes:
        return []
    tallest = min(boxes, key=lambda box: box.y)
    return [Word(round(tallest.x + tallest.width / 2, 1), tallest.y - 3, units.count(most))]


def _line(axis: Axis, mark: Mark) -> Rule:
    x = axis.x(mark.value)
    return Rule(x, TOP - 14, x, FLOOR, mark.look)


def _labels(axis: Axis, marks: Sequence[Mark]) -> list[Word]:
    """The words of marks above the chart, those left out that would lie on another's."""
    words: list[Word] = []
    free = -math.inf
    for mark in sorted(marks, key=lambda one: one.value):
        share, wide = axis.share(mark.value), 6.2 * len(mark.text)
        anchor = _anchor(share)
        left = axis.x(mark.value) - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        if left >= free:
            words.append(Word(axis.x(mark.value), TOP - 19, mark.text, anchor, mark.look))
            free = left + wide + 4
    return words


def _anchor(share: float) -> Literal["start", "middle", "end"]:
    """Near an end, a label leans inwards so that none of it is cut off."""
    return "start" if share < 0.15 else "end" if share > 0.85 else "middle"
