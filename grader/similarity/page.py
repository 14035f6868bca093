"""The page on similar code, and the lines that the command prints. Neither says why code is similar."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grader.reports import charts, grade_texts, templates
from grader.reports.charts import Chart
from grader.similarity.pairs import MOST_CHARACTERS, LessonPairs, SimilarPair
from grader.similarity.passages import Passages, passages
from harness.charts.pictures import Mark
from harness.charts.plots import Axis
from harness.rendering import units

PAGE: Final = "similar.html"

CAUSES: Final = (
    "Similar code has many causes: a task with one usual answer, the same book or tutor, work in a group, generated "
    "code, or one student's code in another student's file."
)

_MOST_PAIRS: Final = 50
_MOST_IN_DETAIL: Final = 20
_MOST_PRINTED: Final = 3

_SMALL_CLASS: Final = 5


@dataclass(frozen=True, slots=True)
class LessonSection:
    """The part of the page on one lesson. `details` has the shared passages of the first pairs."""

    found: LessonPairs
    title: str
    remarks: tuple[str, ...]
    chart: Chart | None
    rows: tuple[SimilarPair, ...]
    details: tuple[tuple[SimilarPair, Passages], ...]


def render(class_title: str, lessons: Sequence[LessonPairs], remarks: Sequence[str]) -> str:
    """Return the page on the similar code of a class as HTML. `remarks` are sentences on code that was not compared."""
    sections = [_section(found) for found in lessons]
    return templates.render("similar.html", class_title=class_title, sections=sections, remarks=remarks, causes=CAUSES)


def lines(lessons: Sequence[LessonPairs]) -> Iterator[str]:
    """Yield lines on the most similar pairs of each lesson for the terminal."""
    for found in lessons:
        yield f"{found.lesson}: {_compared(found)}."
        for pair in found.pairs[:_MOST_PRINTED]:
            number = units.some(len(found.similarities), "pair")
            shared = units.some(pair.shared, "shared fingerprint")
            yield (
                f"  {units.percent(pair.similarity)}  {pair.one.who} – {pair.two.who}: {shared}, "
                f"place {pair.rank} of {number}{', far out' if pair.is_far_out else ''}"
            )
        yield from (f"  {remark}" for remark in _remarks(found))
        yield from (f"  Connected by far-out pairs: {', '.join(group)}" for group in found.clusters())
    yield CAUSES
    yield "A place among the pairs says how unusual a pair is in this class, and not why. Read both hand-ins."


def _compared(found: LessonPairs) -> str:
    earlier = f", {units.count(found.earlier)} of earlier terms" if found.earlier else ""
    return f"{units.some(found.authors, 'author')}{earlier}, {units.some(len(found.similarities), 'pair')}"


def _remarks(found: LessonPairs) -> Iterator[str]:
    if found.authors <= _SMALL_CLASS:
        number = units.some(found.authors, "author")
        yield f"With {number}, the distribution says little: no pair can be called unusual."
    if found.cut:
        some = units.some(found.cut, "hand-in")
        yield f"Only the first {units.count(MOST_CHARACTERS)} characters of {some} were compared."


def _section(found: LessonPairs) -> LessonSection:
    values = found.similarities.tolist()
    axis = Axis(0.0, 1.0, charts.LEFT, charts.RIGHT)
    label = f"Similarity of the pairs in {grade_texts.title(found.lesson)}"
    marks = [Mark(found.far_out_from, f"far out from {units.percent(found.far_out_from)}")] * (found.far_out_from < 1)
    chart = charts.histogram(values, axis, label=label, unit=units.percent, marks=marks) if values else None
    details = tuple((pair, passages(pair, found.left_out)) for pair in found.pairs[:_MOST_IN_DETAIL])
    remarks = (f"{_compared(found)}.", *_remarks(found))
    title = grade_texts.title(found.lesson)
    return LessonSection(found, title, remarks, chart, found.pairs[:_MOST_PAIRS], details)
