"""The parts of a recorded explanation: paragraphs, answers, tables, pictures and claims.

Each part can be converted to JSON and back, and can be printed again. A recorded claim keeps only its result and its
bounds. Its sentence comes from the lesson.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from harness.rendering.tables import Table
from lessons.engine.claim import Claim, SettledClaim
from lessons.engine.interval import Standing
from lessons.engine.screen import Screen, claim_value


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A recorded paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class RevealedAnswer:
    """The recorded text that gives the right answer to a question."""

    text: str


@dataclass(frozen=True, slots=True)
class RecordedPicture:
    """A recorded picture made of characters, with its caption, and its SVG text if the record contains it."""

    text: str
    caption: str
    svg: str = ""


@dataclass(frozen=True, slots=True)
class RecordedClaim:
    """The recorded result of a claim. `value` is the measured value as text.

    `low` to `high` is the measured interval, widened by the noise, and `middle` its best single value. `at_least` and
    `at_most` are the bounds of the claim in this run. A number is None if it is unknown or infinite, or if the record
    is older than this field.
    """

    id: str
    standing: str
    value: str
    low: float | None = None
    middle: float | None = None
    high: float | None = None
    at_least: float | None = None
    at_most: float | None = None

    @classmethod
    def of(cls, settled: SettledClaim, remark: str) -> "RecordedClaim":
        """Return the record of a claim's result. `remark` is printed after its value."""
        measured, claim = settled.measured, settled.claim
        numbers = (measured.lowest, measured.middle, measured.highest, claim.at_least, claim.at_most)
        known = (float(number) if math.isfinite(number) else None for number in numbers)
        return cls(settled.id, str(settled.standing), claim_value(settled, remark), *known)

    @property
    def decided(self) -> bool:
        """Whether the record confirms or refutes the claim."""
        return self.standing in {Standing.HELD, Standing.REFUTED}


Part = Paragraph | RevealedAnswer | RecordedPicture | Table | RecordedClaim

_KINDS: dict[str, type[Part]] = {
    "paragraph": Paragraph,
    "answer": RevealedAnswer,
    "picture": RecordedPicture,
    "table": Table,
    "claim": RecordedClaim,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def show_part(part: Part, screen: Screen, claims: Mapping[str, Claim]) -> None:
    """Print a part. A claim is printed with its sentence in `claims`, and with the recorded result."""
    match part:
        case Paragraph(text):
            screen.say(text)
        case RevealedAnswer(text):
            screen.reveal(text, right=None)
        case RecordedPicture(text, caption, svg):
            if svg:
                screen.drawing(text, svg, caption)
            else:
                screen.picture(text, caption)
        case Table():
            screen.table(part)
        case RecordedClaim():
            screen.claim_line(Standing(part.standing), claims[part.id].sentence, part.value)


def to_json(part: Part) -> dict[str, object]:
    """Return a part as a JSON object without unknown numbers. Its field `kind` names the kind of the part."""
    return {"kind": _NAMES[type(part)], **{name: value for name, value in asdict(part).items() if value is not None}}


def from_json(kept: Mapping[str, object]) -> Part:
    """Return the part that `to_json` converted to `kept`. Raise an exception if `kept` is something else."""
    fields = {name: value for name, value in kept.items() if name != "kind"}
    return _KINDS[str(kept["kind"])](**fields)  # type: ignore[arg-type]  # the file contains what `to_json` wrote
