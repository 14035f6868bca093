"""Recorded runs: what the steps of a lesson showed on the machine of a maintainer, with machine, date and versions.

A student's machine may lack something that a step needs. The lesson then shows the recorded run of this step. The
option `--record` writes the records, and `lessons.engine.recording` contains the code that writes them.
"""

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from harness.errors import UsageError
from harness.machine.environment import NOT_ASKED, Environment
from harness.rendering import units
from harness.rendering.tables import Table
from lessons.engine import explain, parsing
from lessons.engine.claim import Claim, SettledClaim
from lessons.engine.document import Document
from lessons.engine.explain import Measured, explained, question
from lessons.engine.figures import Figures, figures_as_json, figures_from_json
from lessons.engine.interval import Standing
from lessons.engine.recorded_parts import (
    Paragraph,
    Part,
    RecordedClaim,
    RecordedPicture,
    RevealedAnswer,
    from_json,
    show_part,
    to_json,
)
from lessons.engine.screen import Screen

FILE: Final = "run.json"
"""The name of the file with the recorded steps, in the lesson's folder of recorded data."""


@dataclass(frozen=True, slots=True)
class RecordedOn:
    """The date, the machine and the versions of a recorded step. `gpu` is "" without a GPU."""

    date: str
    cpu: str
    cores: int
    gpu: str
    python: str
    torch: str

    @classmethod
    def now(cls, environment: Environment) -> Self:
        """Return today's date with the machine and versions of `environment`."""
        gpu = "" if environment.cuda_device in {None, NOT_ASKED} else str(environment.cuda_device)
        today = dt.datetime.now(dt.UTC).date().isoformat()
        return cls(today, environment.cpu, environment.cores, gpu, environment.python, environment.torch)

    def describe(self) -> str:
        """Return a text such as "a machine with AMD EPYC and 2 cores (2026-11-23, Python 3.11.7, torch 2.13.0)"."""
        parts = " and ".join(filter(None, (self.gpu, self.cpu, units.some(self.cores, "core"))))
        return f"a machine with {parts} ({self.date}, Python {self.python}, torch {self.torch.partition('+')[0]})"


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One recorded step: where it ran, and the parts of its explanation in the order of the screen.

    `question` is the question that the step asked, if its text contains measured values. Otherwise it is "". If the
    lesson has a document, the record contains the figures, and the document gives the parts. `lasted_s` are the seconds
    that the code of the step ran.
    """

    made_on: RecordedOn
    parts: tuple[Part, ...]
    question: str = ""
    figures: Figures | None = None
    lasted_s: float = 0.0

    @property
    def claims(self) -> dict[str, RecordedClaim]:
        """The recorded claims by id."""
        return {part.id: part for part in self.parts if isinstance(part, RecordedClaim)}

    @property
    def decided(self) -> int:
        """The number of claims that this record confirms or refutes."""
        return sum(claim.decided for claim in self.claims.values())

    @property
    def skipped(self) -> bool:
        """Whether the machine of this record skipped the whole step."""
        return all(claim.standing == Standing.SKIPPED for claim in self.claims.values())


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """The recorded steps of a lesson, by the name of the step."""

    steps: Mapping[str, RecordedStep] = field(default_factory=dict)

    @property
    def inconclusive(self) -> list[str]:
        """The ids of the claims that the record could not decide, in the order of the steps."""
        claims = (claim for step in self.steps.values() for claim in step.claims.values())
        return [claim.id for claim in claims if claim.standing == Standing.INCONCLUSIVE]

    @classmethod
    def load(cls, folder: Path, words: Document | None = None) -> Self:
        """Read the records of a lesson from its folder. The result has no steps if there is no file.

        `words` is the document that explains the recorded figures, if it is not the English one.

        Raise `UsageError` if the file is damaged.
        """
        file = folder / FILE
        if not file.is_file():
            return cls()
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            document = folder.parent.parent / f"{folder.name}.md"
            if document.is_file():
                return cls(_explained(words or parsing.load(document), found["steps"]))
            steps = {
                name: RecordedStep(
                    RecordedOn(**step["made on"]), tuple(map(from_json, step["parts"])), step.get("question", "")
                )
                for name, step in found["steps"].items()
            }
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"The recorded run {file} cannot be read ({error!r}). Install fairclock again.") from error
        return cls(steps)

    def save(self, folder: Path) -> Path:
        """Write the records to a folder, and return the path of the file."""
        steps: dict[str, object] = {
            name: {
                "made on": asdict(step.made_on),
                "lasted_s": round(step.lasted_s, 2),
                "figures": figures_as_json(step.figures),
            }
            if step.figures is not None
            else {
                "made on": asdict(step.made_on),
                **({"question": step.question} if step.question else {}),
                "parts": [to_json(part) for part in step.parts],
            }
            for name, step in self.steps.items()
        }
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / FILE
        if any(step.figures is not None for step in self.steps.values()):
            text = _lines(steps)
        else:
            text = json.dumps({"steps": steps}, indent=1, ensure_ascii=False)
        file.write_text(text + "\n", encoding="utf-8")
        return file


def _explained(document: Document, steps: Mapping[str, Any]) -> dict[str, RecordedStep]:
    """Return the recorded steps of a document, explained with its words. `steps` is the content of the file."""
    steps = {name: step for name, step in steps.items() if "figures" in step}
    figures = {name: figures_from_json(step["figures"]) for name, step in steps.items()}
    found = {}
    for step in document.steps:
        if step.name in steps:
            kept = steps[step.name]
            measured = Measured(figures[step.name], {name: figures[name] for name in step.uses & figures.keys()})
            asked = question(step.question, measured) if step.question else None
            parts = explained(step, measured, asked).parts
            text = asked.question if asked and step.question and not step.question.text.is_fixed else ""
            made_on, recorded = (
                RecordedOn(**kept["made on"]),
                tuple(each for part in parts for each in _as_recorded(part)),
            )
            found[step.name] = RecordedStep(made_on, recorded, text, figures[step.name], kept["lasted_s"])
    return found


def _as_recorded(part: explain.Part) -> Iterator[Part]:
    match part:
        case explain.Paragraph(text):
            yield Paragraph(text)
        case explain.Answer(judgement):
            yield RevealedAnswer(judgement.words[:1].upper() + judgement.words[1:])
        case explain.ClaimLine(settled, remark, words):
            yield RecordedClaim.of(settled, remark)
            if words:
                yield Paragraph(words)
        case explain.Picture(_, text, svg, caption):
            yield RecordedPicture(text, caption, svg)
        case explain.Photo(file, caption):
            yield RecordedPicture(file, caption)
        case Table():
            yield part


def _lines(steps: Mapping[str, Any]) -> str:
    """Return the content of a file with each figure on a line of its own, so that a difference is readable."""
    parts = []
    for name, step in steps.items():
        figures = (f"  {_text(each)}: {_text(figure)}" for each, figure in step["figures"].items())
        others = ", ".join(f"{_text(key)}: {_text(value)}" for key, value in step.items() if key != "figures")
        parts.append(f'{_text(name)}: {{{others}, "figures": {{\n' + ",\n".join(figures) + "\n}}")
    return '{"steps": {\n' + ",\n".join(parts) + "\n}}"


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def drawings_of(folder: Path, step: str) -> list[Path]:
    """Return the recorded SVG files of a step, `STEP-NAME.svg`, in the lesson's folder of recorded data."""
    return sorted(folder.glob(f"{step}-*.svg"))


def show(screen: Screen, step: RecordedStep | None, claims: Mapping[str, Claim], found: list[SettledClaim]) -> None:
    """Print the record of a step if this run could not decide all of its claims.

    `claims` are the declared claims of the step by id, and `found` are their results in this run. If this run skipped
    all claims, print the whole recorded explanation. Otherwise, print only the recorded results of the claims that are
    skipped or inconclusive. If the record has no result either, print nothing.
    """
    if step is None:
        return
    undecided = [each for each in found if each.standing in {Standing.SKIPPED, Standing.INCONCLUSIVE}]
    if found and all(each.standing is Standing.SKIPPED for each in found) and not step.skipped:
        _print(screen, step.made_on, "this step showed:", step.parts, claims)
        return
    known = [step.claims[each.id] for each in undecided if each.id in step.claims and step.claims[each.id].decided]
    if known:
        _print(screen, step.made_on, "the result was:" if len(known) == 1 else "the results were:", known, claims)


def show_real(screen: Screen, step: RecordedStep | None, claims: Mapping[str, Claim]) -> None:
    """Print the recorded figures of a step on a real device, after this run has simulated the device.

    The paragraphs are left out, because this run has printed its own.
    """
    if step is not None:
        figures = [part for part in step.parts if not isinstance(part, Paragraph)]
        _print(screen, step.made_on, "this step showed:", figures, claims)


def _print(
    screen: Screen,
    made_on: RecordedOn,
    verb: str,
    parts: Sequence[Part],
    claims: Mapping[str, Claim],
) -> None:
    with screen.quoted():
        screen.recorded(f"On {made_on.describe()}, {verb}")
        for part in parts:
            if not isinstance(part, RecordedClaim) or part.id in claims:
                show_part(part, screen, claims)
