"""Pictures for pages and slides: the drawings of the lessons, and a chart of a lesson's claims."""

import base64
import html
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from markupsafe import Markup

from harness.charts import svg
from harness.charts.pictures import shortened
from harness.charts.plots import Axis
from harness.rendering import units
from lessons.engine.claim import SettledClaim
from lessons.engine.explain import Photo
from lessons.engine.markup import plain
from lessons.guide.contents import LessonPage

_TITLE: Final = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_DESCRIPTION: Final = re.compile(r"<desc>(.*?)</desc>", re.DOTALL)
_SIZE: Final = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_WIDTH, _ROW, _TOP, _LEFT, _RIGHT = 1100, 27, 44, 620, 76
_LONGEST: Final = 94
_MOST_ROWS: Final = 18
MOST_FACTOR: Final = 100.0
"""The factor at the end of the axis. Larger factors are drawn there too, so that the other dots stay apart."""

_STYLE: Final = """\
.bound { stroke: #b3261e } .distance { stroke: #9db6d0; stroke-width: 1 } .interval { stroke: #3b6ea5; stroke-width: 4 }
.held { fill: #3b6ea5 } .open { fill: none; stroke: #b3261e; stroke-width: 2 }
@media (prefers-color-scheme:dark) { .bound { stroke: #f0a184 } .distance { stroke: #4d5a68 }
.interval { stroke: #7db8f5 } .held { fill: #7db8f5 } .open { stroke: #f0a184 } }
"""


@dataclass(frozen=True, slots=True)
class Margin:
    """The distance of a measured value from the bound of its claim, as a factor. The claim holds from 1 on.

    If the ends of the measured interval are known, `factor` belongs to the end nearer to the bound. `farthest` belongs
    to the other end. Otherwise, both are equal. `exact` is true if the bounds are one value.
    """

    sentence: str
    factor: float
    farthest: float
    verdict: str
    exact: bool


def image(drawing: str) -> Markup:
    """Return an `<img>` element that contains an SVG text. Its styles and scripts do not affect the page."""
    data = base64.b64encode(drawing.encode()).decode()
    found = [match[1].strip() for match in (_TITLE.search(drawing), _DESCRIPTION.search(drawing)) if match]
    words = " ".join(html.unescape(text) for text in found)
    return Markup('<img alt="{}" src="data:image/svg+xml;base64,{}">').format(words, data)


def photo(recorded: Photo) -> Markup:
    """Return an `<img>` element that contains a PNG file. Its caption is also its text for screen readers."""
    data = base64.b64encode(Path(recorded.file).read_bytes()).decode()
    return Markup('<img alt="{}" src="data:image/png;base64,{}">').format(recorded.caption, data)


def displayed_height(drawing: str, width: float) -> float:
    """Return the height of an SVG picture that is displayed with this width."""
    match = _SIZE.search(drawing)
    return width * float(match[2]) / float(match[1]) if match else width


def margins(page: LessonPage) -> list[Margin]:
    """Return the margin of each claim of a lesson whose results have positive values and a positive bound."""
    results = [claim.result for step in page.steps for claim in step.claims if claim.result]
    return [
        Margin(
            plain(result.claim.sentence),
            min(found),
            max(found),
            str(result.standing),
            exact=result.claim.at_least == result.claim.at_most,
        )
        for result in results
        if (found := factors(result))
    ]


def factors(result: SettledClaim) -> list[float]:
    """Return the factor between each known value of a claim and the nearer bound. Return nothing without bounds.

    The values are the ends of the measured interval. If they are unknown, the only value is the measured value.
    """
    measured, claim = result.measured, result.claim
    ends = [measured.lowest, measured.highest]
    values = ends if all(map(math.isfinite, ends)) else [measured.middle] if math.isfinite(measured.middle) else []
    found = [_factor(value, claim.at_least, claim.at_most) for value in values]
    return [each for each in found if each is not None] if None not in found else []


def _factor(value: float, at_least: float, at_most: float) -> float | None:
    if value <= 0:
        return None
    above = value / at_least if at_least > 0 else math.inf
    below = at_most / value if at_most > 0 else math.inf
    found = min(above, below)
    return found if 0 < found < math.inf else None


def claim_chart(page: LessonPage) -> str:
    """Return an SVG chart of the margins of a lesson's claims, or "" if the pack has none.

    The axis is logarithmic. A dot on the right of the line at 1 is a claim that holds. A wide line is an interval. An
    exact claim has no distance from its bound, so it is drawn only if there are no other claims. The numbers on the
    right also show factors beyond the end of the axis.
    """
    known = margins(page)
    rows = ([row for row in known if not row.exact] or known)[:_MOST_ROWS]
    if not rows:
        return ""
    low = max(min(0.5, *(row.factor for row in rows)), 1 / MOST_FACTOR)
    high = min(max(2.0, *(row.farthest for row in rows)), MOST_FACTOR)
    axis = Axis(low, high, _LEFT + 10, _WIDTH - _RIGHT - 10, log=True)
    height, at_one = _TOP + _ROW * len(rows) + 40, axis.place(1.0)
    shapes = [
        svg.text(8, 22, "Each claim: by which factor is the measured value better than the bound?", font_size=17),
        svg.line((at_one, _TOP - 8), (at_one, height - 30), class_="bound"),
        svg.text(at_one, height - 12, "bound", text_anchor="middle"),
        svg.text(8, height - 12, "Filled: held. Hollow: not held. Wide line: interval. The axis is logarithmic."),
        *_dots(rows, axis),
    ]
    facts = "; ".join(f"{row.sentence}: {units.ratio(row.factor)} ({row.verdict})" for row in rows)
    title = "The claims of this lesson in one run"
    return svg.document(_WIDTH, height, shapes, title=title, description=facts, style=_STYLE)


def _dots(rows: Sequence[Margin], axis: Axis) -> Iterator[str]:
    for index, row in enumerate(rows):
        y = _TOP + index * _ROW + 12
        x, farthest = axis.place(row.factor), axis.place(row.farthest)
        yield svg.text(8, y + 5, shortened(row.sentence, _LONGEST))
        yield svg.line((axis.place(1.0), y), (x, y), class_="distance")
        if farthest > x:
            yield svg.line((x, y), (farthest, y), class_="interval")
        yield svg.element("circle", cx=x, cy=y, r=5, class_="held" if row.verdict == "held" else "open")
        yield svg.text(_WIDTH - _RIGHT + 4, y + 5, units.ratio(row.factor))
