"""Pictures for pages and slides: the drawings of the lessons, and a chart of a lesson's claims."""

import base64
import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from harness.rendering import svg, units
from harness.rendering.bar_chart import shortened
from lessons.engine.markup import plain
from lessons.guide.contents import LessonPage
from lessons.guide.results import ClaimResult

_TITLE: Final = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_DESCRIPTION: Final = re.compile(r"<desc>(.*?)</desc>", re.DOTALL)
_WIDTH, _ROW, _TOP, _LEFT, _RIGHT = 900, 26, 44, 520, 70
_LONGEST: Final = 78
_MOST_ROWS: Final = 18


@dataclass(frozen=True, slots=True)
class Margin:
    """The distance of a measured value from the bound of its claim, as a factor. The claim holds from 1 on."""

    sentence: str
    factor: float
    verdict: str


def image(drawing: str) -> Markup:
    """Return an `<img>` element that contains an SVG text. Its styles and scripts do not affect the page."""
    data = base64.b64encode(drawing.encode()).decode()
    found = [match[1].strip() for match in (_TITLE.search(drawing), _DESCRIPTION.search(drawing)) if match]
    words = " ".join(html.unescape(text) for text in found)
    return Markup('<img alt="{}" src="data:image/svg+xml;base64,{}">').format(words, data)


def margins(page: LessonPage) -> list[Margin]:
    """Return the margin of each claim of a lesson whose results have a positive value and a positive bound."""
    claims = [claim for step in page.steps for claim in step.claims if claim.result]
    found = [(claim.sentence, claim.result, factor(claim.result)) for claim in claims if claim.result]
    return [Margin(plain(sentence), value, result.verdict) for sentence, result, value in found if value]


def factor(result: ClaimResult) -> float | None:
    """Return the smallest factor between a measured value and a bound of its claim, or None if there is none."""
    measured = result.measured
    if measured is None or measured <= 0:
        return None
    above = measured / result.low if result.low and result.low > 0 else math.inf
    below = result.high / measured if result.high and result.high > 0 else math.inf
    value = min(above, below)
    return value if 0 < value < math.inf else None


def claim_chart(page: LessonPage) -> str:
    """Return an SVG chart of the margins of a lesson's claims, or "" if the pack has none.

    The axis is logarithmic. A dot on the right of the line at 1 is a claim that holds.
    """
    rows = margins(page)[:_MOST_ROWS]
    if not rows:
        return ""
    low = min(0.5, *(row.factor for row in rows))
    high = max(2.0, *(row.factor for row in rows))
    height = _TOP + _ROW * len(rows) + 40
    shapes = [
        svg.label(8, 22, "Each claim: by which factor is the measured value better than the bound?", size=15),
        *_axis(low, high, height),
        *_dots(rows, low, high),
    ]
    facts = "; ".join(f"{row.sentence}: {units.ratio(row.factor)} ({row.verdict})" for row in rows)
    return svg.document(_WIDTH, height, shapes, title="The claims of this lesson in one run", description=facts)


def _place(value: float, low: float, high: float) -> float:
    share = math.log(value / low) / math.log(high / low)
    return _LEFT + 10 + share * (_WIDTH - _LEFT - _RIGHT - 20)


def _axis(low: float, high: float, height: int) -> list[str]:
    at_one = _place(1.0, low, high)
    return [
        svg.line((at_one, _TOP - 8), (at_one, height - 30), stroke=svg.RED),
        svg.label(at_one, height - 12, "bound", text_anchor="middle"),
        svg.label(8, height - 12, "blue: held, red: not held, on a logarithmic axis"),
    ]


def _dots(rows: Sequence[Margin], low: float, high: float) -> list[str]:
    shapes = []
    for index, row in enumerate(rows):
        y = _TOP + index * _ROW + 12
        x = _place(row.factor, low, high)
        shapes.append(svg.label(8, y + 4, shortened(row.sentence, _LONGEST), size=13))
        shapes.append(svg.line((_place(1.0, low, high), y), (x, y), stroke="#9db6d0", stroke_width=2))
        shapes.append(svg.element("circle", cx=x, cy=y, r=5, fill=svg.BLUE if row.verdict == "held" else svg.RED))
        shapes.append(svg.label(_WIDTH - _RIGHT + 4, y + 4, units.ratio(row.factor), size=13))
    return shapes
