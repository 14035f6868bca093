"""The slides of a lesson: one HTML file that needs no other file. The arrow keys change the slide.

Chromium prints one slide on each page.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from harness.rendering.tables import Table
from lessons.engine.explain import UNKNOWN, Photo, Picture
from lessons.guide.contents import LessonPage, StepPage
from lessons.guide.pictures import claim_chart, displayed_height
from lessons.guide.rendering import render

MOST_LINES: Final = 26
"""The largest number of lines of code on one slide."""

MOST_ROWS: Final = 8
MOST_COLUMNS: Final = 5
MOST_WIDTH: Final = 72
"""The largest table, and the longest line of text, on half a slide."""

CODE_BESIDE_TEXT: Final = 740
CODE_ALONE: Final = 1130
CODE_HEIGHT: Final = 545
"""The place for code on a slide, in CSS pixels."""

PICTURES_WIDTH: Final = 568
PICTURES_HEIGHT: Final = 550
PICTURES_GAP: Final = 10
"""The place for pictures on half a slide, and the distance of two pictures, in CSS pixels."""

CHARACTER: Final = 0.605
LINE: Final = 1.34
"""The width of a character and the height of a line, in sizes of the font."""

LARGEST_FONT: Final = 22

GAP: Final = "\n\n\n"
"""The text between two functions in shown code."""


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide. `kind` chooses its part of the template, and the other fields are its content."""

    kind: str
    title: str
    step: StepPage | None = None
    text: str = ""
    code: str = ""
    pictures: Sequence[str] = ()
    shown: Table | Picture | None = None
    photo: Photo | None = None

    @property
    def code_px(self) -> int:
        """The size of the code's font in CSS pixels, at which the code fills its part of the slide."""
        lines = self.code.splitlines()
        width = CODE_BESIDE_TEXT if self.text else CODE_ALONE
        by_width = width / (max(map(len, lines), default=1) * CHARACTER)
        return int(min(LARGEST_FONT, by_width, CODE_HEIGHT / (len(lines) * LINE)))


def slides_page(page: LessonPage) -> str:
    """Return the slides of a lesson, as HTML."""
    return render("slides.html", page=page, slides=list(slides_of(page)), unknown=UNKNOWN)


def slides_of(page: LessonPage) -> Iterator[Slide]:
    """Yield the slides of a lesson, in order."""
    yield Slide("title", page.title)
    for step in page.steps:
        yield from _step(step)
    chart = claim_chart(page)
    if chart:
        yield Slide("picture", "The claims in one run", pictures=(chart,))
    yield Slide("points", "Key points")
    if page.tasks:
        yield Slide("exercise", "Your exercise")


def _step(step: StepPage) -> Iterator[Slide]:
    chunks = list(in_chunks(*step.codes))
    for number, code in enumerate(chunks, start=1):
        title = f"{step.number}. {step.title}" + (f" ({number}/{len(chunks)})" if len(chunks) > 1 else "")
        yield Slide("code", title, step, text=step.introduction if number == 1 else "", code=code)
    if step.asked:
        yield Slide("question", f"{step.number}. {step.title}", step)
    if step.asked or step.claims:
        title, pictures = f"{step.number}. {step.title}", fitting(step.pictures)
        yield Slide("answer", title, step, pictures=pictures, shown=_best_shown(step))
    for photo in step.photos:
        yield Slide("photo", f"{step.number}. {step.title}", step, photo=photo)


def fitting(pictures: Sequence[str]) -> Sequence[str]:
    """Return the first picture, and as many of the next pictures as fit below it on half a slide."""
    heights = accumulate(displayed_height(drawing, PICTURES_WIDTH) + PICTURES_GAP for drawing in pictures)
    return pictures[: max(sum(height <= PICTURES_HEIGHT for height in heights), 1)]


def _best_shown(step: StepPage) -> Table | Picture | None:
    """Return the first table or text of a step that fits on half a slide. With a picture, return None."""
    return None if step.pictures else next(filter(_fits, step.shown), None)


def _fits(shown: Table | Picture) -> bool:
    if isinstance(shown, Table):
        return len(shown.rows) <= MOST_ROWS and len(shown.heads) <= MOST_COLUMNS
    lines = shown.text.splitlines()
    return len(lines) <= MOST_LINES and max(map(len, lines), default=0) <= MOST_WIDTH


def in_chunks(*codes: str) -> Iterator[str]:
    """Yield pieces of code of at most `MOST_LINES` lines each. Functions stay whole if they are short enough."""
    chunk = ""
    for part in (part for code in codes if code for part in code.split(GAP)):
        lines = part.splitlines()
        if chunk and len(chunk.splitlines()) + len(lines) + 2 > MOST_LINES:
            yield chunk
            chunk = ""
        while len(lines) > MOST_LINES:
            at = max((n for n in range(MOST_LINES // 2, MOST_LINES) if not lines[n].strip()), default=MOST_LINES)
            yield "\n".join(lines[:at])
            lines = lines[at:]
        chunk = f"{chunk}{GAP}" * bool(chunk) + "\n".join(lines)
    if chunk.strip():
        yield chunk
