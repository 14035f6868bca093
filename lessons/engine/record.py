"""The record of one run of a lesson. The contents of the `--json` file and of the progress file come from it."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from harness.machine.environment import Environment
from lessons.engine.claim import SettledClaim
from lessons.engine.figures import Figures, Lacking, figures_as_json
from lessons.engine.predict import PredictionResult

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

FORMAT = 1
"""The version of the JSON file's format. Increase it with each change that can break programs that read the file."""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """The record of one finished step: the seconds that its code ran, the student's prediction, and its claims."""

    name: str
    title: str
    duration_s: float = 0.0
    prediction: PredictionResult | None = None
    claims: tuple[SettledClaim, ...] = ()
    figures: Figures | Lacking | None = None


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run that the student left: the number of finished steps, and the results of their claims by the claim's id."""

    steps: int
    claims: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LessonRecord:
    """The record of one run of a lesson. `duration_s` does not contain the time that the student took to answer.

    `noise` is the machine's noise as a fraction. `complete` is true if all steps of the lesson are finished. `steps`
    are the steps of this run only. If this run continues an unfinished run, `earlier` is the unfinished run.
    `started_at` is the number of steps of the lesson before the first step of this run.
    """

    lesson: str
    title: str
    fast: bool
    started_utc: str
    duration_s: float
    environment: Environment
    noise: float
    steps: tuple[StepRecord, ...]
    complete: bool
    earlier: Unfinished | None = None
    started_at: int = 0

    @property
    def gapless(self) -> bool:
        """Whether no step is missing: this run begins at step 1, or directly after the steps of `earlier`."""
        return self.started_at == (self.earlier.steps if self.earlier else 0)

    @property
    def so_far(self) -> Unfinished:
        """The number of finished steps and the results of their claims, of this run and of `earlier` together."""
        before = self.earlier or Unfinished(0, {})
        now = {settled.id: settled.standing.value for settled in self.claims}
        return Unfinished(before.steps + len(self.steps), {**before.claims, **now})

    @property
    def claims(self) -> tuple[SettledClaim, ...]:
        """All claims with their results, in the order of the steps."""
        return tuple(settled for step in self.steps for settled in step.claims)

    def to_json(self) -> Json:
        """Return the record as a JSON value. Infinite bounds and other numbers that are not finite become null."""
        return {
            "format": FORMAT,
            "lesson": self.lesson,
            "title": self.title,
            "fast": self.fast,
            "complete": self.complete,
            "started_utc": self.started_utc,
            "duration_s": self.duration_s,
            "noise": _finite(self.noise),
            "environment": self.environment.to_dict(),  # type: ignore[dict-item]  # JSON values with a wider type
            "claims": [_claim(settled, step.name) for step in self.steps for settled in step.claims],
            "steps": [_step(step) for step in self.steps],
        }


def _claim(settled: SettledClaim, step: str) -> Json:
    measured, claim = settled.measured, settled.claim
    return {
        "id": claim.id,
        "step": step,
        "sentence": claim.sentence,
        "measured": _finite(measured.middle),
        "low": _finite(claim.at_least),
        "high": _finite(claim.at_most),
        "error": _finite(measured.half_width),
        "noise": _finite(measured.noise),
        "verdict": settled.standing.value,
        "reason": settled.reason,
        "shown": settled.shown,
        "wanted": claim.bounds,
    }


def _step(step: StepRecord) -> Json:
    return {
        "name": step.name,
        "title": step.title,
        "duration_s": step.duration_s,
        "figures": figures_as_json(step.figures) if isinstance(step.figures, dict) else None,
        "prediction": asdict(step.prediction) if step.prediction else None,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
