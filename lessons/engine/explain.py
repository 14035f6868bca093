"""Explain the figures of a step with the words of its document. All functions of this module are pure.

The same functions make the parts of a run, of a recorded run, and of a run with forced results of the claims.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from harness.charts import plots
from harness.charts.pictures import histogram_svg
from harness.rendering.tables import Table
from lessons.engine.claim import Claim, SettledClaim
from lessons.engine.document import Block, ClaimBlock, DocumentStep, QuestionBlock, Shown, Words
from lessons.engine.figures import Drawing, Figures, Lacking, Rows, Samples
from lessons.engine.interval import ClaimStanding, Interval
from lessons.engine.markup import plain
from lessons.engine.phrases import phrase
from lessons.engine.predict import Choice, Guess, Judgement, Prediction, PredictionResult, StudentAnswer, Truth
from lessons.engine.templates import LackingFigureError, Place, Template, formatter, value_of

REFUTED: Final = "On this machine, this was not so in this run."
UNKNOWN: Final = "…"
"""What stands in a text for a value that is not known."""

UNCLEAR: Final = "This run does not show whether this is so."


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A claim with its result, a remark after its value, and what the document says about this result."""

    settled: SettledClaim
    remark: str
    words: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture below its caption: characters, and SVG for pages and notebooks ("" if there is none)."""

    name: str
    text: str
    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Photo:
    """A PNG file, named relative to the lesson's folder of recorded data, below its caption."""

    file: str
    caption: str


Part = Paragraph | Judgement | ClaimLine | Table | Picture | Photo


@dataclass(frozen=True, slots=True)
class Said:
    """What a lesson says about a claim that is held, refuted or unclear. A text is empty if the lesson says nothing."""

    held: str
    refuted: str
    unclear: str


STANDINGS: Final = dict(zip(("held", "refuted", "unclear", "skipped"), ClaimStanding, strict=True))
"""The possible results of a claim, by the name that a template asks for, such as `{% if claim.held %}`."""


@dataclass(frozen=True, slots=True)
class Explained:
    """All that a step shows below its question, the results of its claims, and of the student's prediction."""

    parts: tuple[Part, ...]
    claims: tuple[SettledClaim, ...]
    prediction: PredictionResult | None = None


@dataclass(frozen=True, slots=True)
class StepFigures:
    """The figures of a step. `earlier` are the figures of the steps before it, by the name of the step."""

    figures: Figures | Lacking
    earlier: Mapping[str, Figures | Lacking] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, object]:
        """The values that templates can use."""
        return {**self.earlier, **({} if isinstance(self.figures, Lacking) else self.figures)}

    def lacking(self, names: frozenset[str], place: Place) -> str:
        """Return the reason why one of these figures is lacking, or "". Raise `DocumentError` if one does not exist."""
        for name in names:
            if isinstance(self.figures, Lacking) and name.partition(".")[0] not in self.earlier:
                return self.figures.reason
            try:
                found = value_of(name, self.values)
            except (KeyError, TypeError):
                known = ", ".join(sorted(self.values))
                raise place.error(f"There is no figure {name!r}. The step computes: {known}.") from None
            if isinstance(found, Lacking):
                return found.reason
        return ""


def explained(
    step: DocumentStep,
    measured: StepFigures,
    prediction: Prediction | None = None,
    answer: StudentAnswer | None = None,
    forced: Mapping[str, ClaimStanding] | None = None,
) -> Explained:
    """Return what a step shows for its figures, and the results of its claims.

    `prediction` is the question that was asked, and `answer` the student's answer. `forced` are the results of claims
    by id that replace the measured results.
    """
    claims = {block.id: settle(block, measured) for block in step.claims}
    for id_, standing in (forced or {}).items():
        claims[id_] = replace(claims[id_], standing=standing)
    results = {
        block.name: {name: claims[block.id].standing is each for name, each in STANDINGS.items()}
        for block in step.claims
    }
    parts: list[Part] = []
    asked = None
    if step.question and prediction:
        judged = prediction.judge(answer, truth(step.question, measured))
        parts.append(judged)
        asked = PredictionResult(prediction.question, answer.text if answer else None, judged.truth, judged.right)
    for block in step.blocks:
        parts += _parts(block, measured, results, claims)
    return Explained(tuple(parts), tuple(claims.values()), asked)


def question(block: QuestionBlock, measured: StepFigures) -> Prediction:
    """Return the question. `measured` contains the figures of earlier steps, which the text of the question may use.

    `UNKNOWN` stands for a figure that is lacking.
    """
    try:
        return question_as(block, block.text.render(measured.values))
    except LackingFigureError:
        return question_as(block, block.text.without_values(UNKNOWN))


def question_as(block: QuestionBlock, text: str) -> Prediction:
    """Return the question with this text."""
    if block.guess is not None:
        return Guess(text, block.guess, block.near)
    if not block.choices:
        return Choice.ranges(text, block.limits, formatter(block.unit, block.place))
    return Choice.of(text, block.choices, block.limits)


def truth(block: QuestionBlock, measured: StepFigures) -> Truth:
    """Return the figure that answers the question, or None if it is lacking."""
    if measured.lacking(frozenset({block.figure}), block.place):
        return None
    found = value_of(block.figure, measured.values)
    if found is None or isinstance(found, str | Interval | int | float):
        return found
    raise block.place.error(f"{block.figure} must be a number, an interval, or the letter of an option.")


def declared(block: ClaimBlock) -> Claim:
    """Return a claim with its bounds. A bound that depends on a figure is infinite."""
    return Claim(block.id, block.sentence, *block.condition.fixed, formatter(block.unit, block.place))


def settle(block: ClaimBlock, measured: StepFigures) -> SettledClaim:
    """Return a claim with its result for these figures."""
    place, condition = block.place, block.condition
    claim = Claim(block.id, block.sentence, unit=formatter(block.unit, place))
    disturbed = frozenset({block.disturbed} if block.disturbed else ())
    if reason := measured.lacking(condition.names | disturbed, place):
        return claim.skipped(reason)
    values = measured.values

    def number(bound: float | str | None, missing: float) -> float:
        found = value_of(bound, values) if isinstance(bound, str) else bound
        return missing if found is None else float(found.middle if isinstance(found, Interval) else found)  # type: ignore[arg-type]

    low, high = number(condition.at_least, -math.inf), number(condition.at_most, math.inf)
    found = value_of(condition.figure, values)
    if not isinstance(found, Interval):
        if not isinstance(found, int | float):
            raise place.error(f"{condition.figure} must be a number or an interval, and not {found!r}.")
        found = Interval.exact(found)
    known = replace(claim, at_least=low, at_most=high)
    shown = _written(block.value, values)
    settled = known.settled(found, shown)
    if block.disturbed and value_of(block.disturbed, values) and settled.standing is ClaimStanding.REFUTED:
        return known.settled(found.void_if(True), shown)
    return settled


def said(step: DocumentStep, measured: StepFigures) -> dict[str, Said]:
    """Return the texts about each claim of a step, by the claim's id."""
    found: dict[str, list[str]] = {block.id: [] for block in step.claims}
    for standing in (ClaimStanding.HELD, ClaimStanding.REFUTED, ClaimStanding.INCONCLUSIVE):
        for part in explained(step, measured, forced=dict.fromkeys(found, standing)).parts:
            if isinstance(part, ClaimLine):
                found[part.settled.id].append(part.words)
    return {id_: Said(*texts) for id_, texts in found.items()}


def _parts(
    block: Block, measured: StepFigures, results: Mapping[str, object], claims: Mapping[str, SettledClaim]
) -> Iterator[Part]:
    values = {**measured.values, **results}

    def written(template: Template | None) -> str:
        """Return the text of a template, or "" if one of its figures is lacking."""
        if template is None:
            return ""
        if isinstance(measured.figures, Lacking) and template.names - results.keys() - measured.earlier.keys():
            return ""
        return _written(template, values)

    match block:
        case Words(text):
            # If the whole step is lacking, its recorded run follows, with all paragraphs.
            if not isinstance(measured.figures, Lacking) and (found := written(text)):
                yield Paragraph(found)
        case ClaimBlock():
            settled = claims[block.id]
            first = next(each for each in claims.values() if each.reason == settled.reason)
            if settled.standing is ClaimStanding.SKIPPED and settled is not first:  # the student has read the reason
                settled = replace(settled, reason="")
            chosen = {
                ClaimStanding.HELD: written(block.held),
                ClaimStanding.REFUTED: phrase(REFUTED) if block.refuted is None else written(block.refuted),
                ClaimStanding.INCONCLUSIVE: phrase(UNCLEAR) if block.unclear is None else written(block.unclear),
            }
            yield ClaimLine(settled, written(block.remark), chosen.get(settled.standing, ""))
        case Shown():
            if not measured.lacking(frozenset({block.figure}), block.place):
                yield _shown(block, value_of(block.figure, values), written(block.caption))


def _written(template: Template | None, values: Mapping[str, object]) -> str:
    """Return the text of a template, or "" if there is none or one of its figures is lacking."""
    try:
        return template.render(values) if template else ""
    except LackingFigureError:
        return ""


def _shown(block: Shown, figure: object, caption: str) -> Part:
    match (block.kind, figure):
        case ("table", Rows(rows)):
            cells = [(label, *row) for label, row in zip(block.labels, rows, strict=True)] if block.labels else rows
            columns = {head: formatter(unit, block.place) if unit else None for head, unit in block.columns}
            return Table.of(caption, columns, cells)
        case ("histogram", Samples(values)):
            unit = formatter(block.unit, block.place)
            picture = histogram_svg(values, title=plain(caption), unit=unit)
            return Picture(block.figure, plots.histogram(values, unit=unit), picture, caption)
        case ("drawing", Drawing(text, svg)):
            return Picture(block.figure, text, svg, caption)
        case ("output", str(text)):
            return Picture(block.figure, text, "", caption)
        case ("photo", str(file)):
            return Photo(file, caption)
    raise block.place.error(f"{block.figure} is {type(figure).__name__}, which {{{block.kind}}} cannot show.")
