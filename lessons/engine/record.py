"""What one run of a lesson leaves behind, as values: the `--json` and progress files are made from these."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from harness.environment import Environment
from lessons.engine.claim import Claim
from lessons.engine.page import Prophecy

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

FORMAT = 1
"""Raised whenever a reader of the JSON file would have to change."""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step as it went: how long its code ran, what the reader had said, and the claims it settled."""

    name: str
    title: str
    duration_s: float
    prophecy: Prophecy | None
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run that the reader left: how many steps were done, and how each of their claims fared, by id."""

    steps: int
    claims: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LessonRecord:
    """One run of a lesson. `duration_s` is the machine's time: waiting for the reader is not in it.

    `noise` is the A/A error of the run as a fraction; `complete` tells whether the reader stayed to the end. A run that
    goes on from an unfinished one has that as `earlier`, and in `steps` only its own.
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

    @property
    def so_far(self) -> Unfinished:
        """The steps and claims of this run and of the one that it goes on from."""
        before = self.earlier or Unfinished(0, {})
        now = {claim.id: claim.standing.value for claim in self.claims}
        return Unfinished(before.steps + len(self.steps), {**before.claims, **now})

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Every claim settled, in order."""
        return tuple(claim for step in self.steps for claim in step.claims)

    def to_json(self, sentences: dict[str, str]) -> Json:
        """Return the record for a JSON file; a missing bound, or a value that is no number, is null."""
        environment = self.environment.to_dict()
        return {
            "format": FORMAT,
            "lesson": self.lesson,
            "title": self.title,
            "fast": self.fast,
            "complete": self.complete,
            "started_utc": self.started_utc,
            "duration_s": self.duration_s,
            "noise": _finite(self.noise),
            "environment": environment,  # type: ignore[dict-item]  # made of JSON values, typed more loosely
            "claims": [_claim(claim, sentences[claim.id], step.name) for step in self.steps for claim in step.claims],
            "steps": [_step(step) for step in self.steps],
        }


def _claim(claim: Claim, sentence: str, step: str) -> Json:
    return {
        "id": claim.id,
        "step": step,
        "sentence": sentence,
        "measured": _finite(claim.measured),
        "low": _finite(claim.low),
        "high": _finite(claim.high),
        "error": _finite(claim.error),
        "noise": _finite(claim.noise),
        "verdict": claim.standing.value,
        "reason": claim.reason,
        "shown": claim.shown,
        "wanted": claim.wanted,
    }


def _step(step: StepRecord) -> Json:
    prophecy = step.prophecy
    return {
        "name": step.name,
        "title": step.title,
        "duration_s": step.duration_s,
        "prediction": None
        if prophecy is None
        else {
            "question": prophecy.question,
            "answer": prophecy.answer,
            "truth": prophecy.truth,
            "right": prophecy.right,
        },
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
