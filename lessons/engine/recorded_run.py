"""Recorded runs: the figures of the steps of a lesson on the machine of a maintainer, with date and versions.

A student's machine may lack something that a step needs. The lesson then shows the recorded run of this step, in the
words of its document. The option `--record` writes the records (`lessons.engine.recording`).
"""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from harness.errors import UsageError
from harness.machine.environment import NOT_ASKED, Environment
from harness.rendering import units
from lessons.engine.claim import SettledClaim
from lessons.engine.document import Document, DocumentStep
from lessons.engine.explain import ClaimLine, Explained, Paragraph, Part, StepFigures, explained, question
from lessons.engine.figures import Figures, figures_as_json, figures_from_json
from lessons.engine.interval import ClaimStanding
from lessons.engine.phrases import phrase

FILE: Final = "run.json"
"""The name of the file with the recorded steps, in the lesson's folder of recorded data."""

DECIDED: Final = frozenset({ClaimStanding.HELD, ClaimStanding.REFUTED})


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
    """One recorded step: where it ran, its figures, and the seconds that its code ran."""

    made_on: RecordedOn
    lasted_s: float
    figures: Figures


@dataclass(frozen=True, slots=True)
class Replayed:
    """The parts of a recorded step that a lesson shows. `heading` names the machine, the date and the versions."""

    heading: str
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """The recorded steps of a lesson, by the name of the step."""

    steps: Mapping[str, RecordedStep] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the records of a lesson from its folder. The result has no steps if there is no file.

        Raise `UsageError` if the file is damaged.
        """
        file = folder / FILE
        if not file.is_file():
            return cls()
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            return cls({name: _step(step) for name, step in found["steps"].items()})
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"The recorded run {file} cannot be read ({error!r}). Install fairclock again.") from error

    def save(self, folder: Path) -> Path:
        """Write the records to a folder, and return the path of the file. Each figure has a line of its own."""
        steps = []
        for name, step in self.steps.items():
            head = f'{_text(name)}: {{"made on": {_text(asdict(step.made_on))}, "lasted_s": {round(step.lasted_s, 2)}'
            figures = (f"  {_text(each)}: {_text(kept)}" for each, kept in figures_as_json(step.figures).items())
            steps.append(f'{head}, "figures": {{\n' + ",\n".join(figures) + "\n}}")
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / FILE
        file.write_text('{"steps": {\n' + ",\n".join(steps) + "\n}}\n", encoding="utf-8")
        return file

    def explained(self, step: DocumentStep) -> Explained:
        """Return what a recorded step showed, in the words of its document."""
        earlier = {name: self.steps[name].figures for name in step.uses & self.steps.keys() - {step.name}}
        measured = StepFigures(self.steps[step.name].figures, earlier)
        return explained(step, measured, question(step.question, measured) if step.question else None)

    def replayed(self, step: DocumentStep, found: Sequence[SettledClaim], simulated: str) -> Replayed | None:
        """Return what a lesson shows of the record of a step after its own run, or None.

        `found` are the results of the claims in this run. If this run skipped all claims, show the whole recorded
        explanation. Otherwise, show only the recorded results of the claims that are skipped or inconclusive. If this
        run only simulated a device, show what the real device showed, without the paragraphs that this run has printed.
        """
        if step.name not in self.steps:
            return None
        recorded, verb = self.explained(step), "this step showed:"
        undecided = {each.id for each in found if each.standing not in DECIDED}
        parts: Sequence[Part] = recorded.parts
        if simulated:
            parts = [part for part in parts if not isinstance(part, Paragraph)]
        elif not found or not _skips(found) or _skips(recorded.claims):
            parts = [
                ClaimLine(part.settled, part.remark, "")
                for part in parts
                if isinstance(part, ClaimLine) and part.settled.id in undecided and part.settled.standing in DECIDED
            ]
            verb = "the result was:" if len(parts) == 1 else "the results were:"
        machine = self.steps[step.name].made_on.describe()
        return Replayed(phrase("On {machine}, {verb}", machine=machine, verb=phrase(verb)), parts) if parts else None

    def undecided(self, document: Document) -> list[str]:
        """Return the ids of the claims that the record could not decide, in the order of the steps."""
        claims = (each for step in document.steps if step.name in self.steps for each in self.explained(step).claims)
        return [claim.id for claim in claims if claim.standing is ClaimStanding.INCONCLUSIVE]


def _step(kept: Mapping[str, Any]) -> RecordedStep:
    return RecordedStep(RecordedOn(**kept["made on"]), float(kept["lasted_s"]), figures_from_json(kept["figures"]))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _skips(claims: Sequence[SettledClaim]) -> bool:
    return all(each.standing is ClaimStanding.SKIPPED for each in claims)
