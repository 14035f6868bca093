"""The student's progress. It is kept in one JSON file in the user's state folder.

The file is replaced atomically, so that a crash leaves the previous file. A damaged file is renamed, the lesson prints
a warning, and the progress starts again.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.storage.user_files import state_folder, write_state
from lessons.engine.interval import ClaimStanding
from lessons.engine.predict import PredictionResult
from lessons.engine.record import LessonRecord, Unfinished

FORMAT = 1


@dataclass(frozen=True, slots=True)
class LessonProgress:
    """The student's progress in one lesson.

    `claims` maps the id of each claim to its result in the best run. `predictions` maps the name of a step to the
    student's latest answer. `durations_s` are the seconds of the latest complete run, under "default" for a usual run
    and under "fast" for a short run. `left` is the unfinished run that the student can continue, or None.
    """

    last_run_utc: str
    complete: bool
    steps_done: int
    claims: dict[str, str] = field(default_factory=dict)
    predictions: dict[str, PredictionResult] = field(default_factory=dict)
    durations_s: dict[str, float] = field(default_factory=dict)
    left: Unfinished | None = None

    @property
    def held(self) -> int:
        """The number of claims that held in the best run."""
        return _held(self.claims)

    @property
    def measured(self) -> int:
        """The number of claims that were held, refuted or inconclusive in the best run, and not skipped."""
        return sum(standing != ClaimStanding.SKIPPED for standing in self.claims.values())


def updated(before: LessonProgress | None, record: LessonRecord) -> LessonProgress:
    """Return the progress in a lesson after the run `record`. This function is pure.

    A complete lesson stays complete. Its claims are those of the complete run with the most held claims. Of several
    unfinished runs, the progress keeps the run with the most steps. If the student skipped a question in this run, the
    earlier answer stays. A run that starts at a later step changes only the answers.
    """
    now, left = record.so_far, before.left if before else None
    predictions = dict(before.predictions) if before else {}
    for step in record.steps:
        if step.prediction is not None and step.prediction.answer is not None:
            predictions[step.name] = step.prediction
    if not record.gapless:
        known = before or LessonProgress(record.started_utc, complete=False, steps_done=0)
        return replace(known, last_run_utc=record.started_utc, predictions=predictions)
    durations = dict(before.durations_s) if before else {}
    if record.complete and record.earlier is None:
        durations[length_of(fast=record.fast)] = record.duration_s
    furthest = left if left and left.steps > now.steps else now
    best = now.claims if record.complete else furthest.claims
    if before and before.complete and not (record.complete and _held(best) >= before.held):
        best = before.claims
    return LessonProgress(
        last_run_utc=record.started_utc,
        complete=record.complete or bool(before and before.complete),
        steps_done=now.steps if record.complete else furthest.steps,
        claims=dict(best),
        predictions=predictions,
        durations_s=durations,
        left=None if record.complete else furthest,
    )


def _held(claims: Mapping[str, str]) -> int:
    return sum(standing == ClaimStanding.HELD for standing in claims.values())


def length_of(*, fast: bool) -> str:
    """Return the key of `LessonProgress.durations_s` for a short or a usual run: "fast" or "default"."""
    return "fast" if fast else "default"


class ProgressFile:
    """The progress file. `warning` is the sentence to print if the file could not be read. Otherwise it is empty."""

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder or state_folder()) / "progress.json"
        self.warning = ""

    def load(self) -> dict[str, LessonProgress]:
        """Return a dict from the name of each lesson to the student's progress in this lesson.

        If there is no file or it cannot be read, the result is empty. A damaged file is renamed.
        """
        try:
            return _decode(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            self.warning = f"Your progress in {self.path} cannot be read ({error.strerror}). This run does not use it."
        except (ValueError, KeyError, TypeError, AttributeError):
            aside = self.path.with_suffix(".damaged.json")
            try:
                self.path.replace(aside)
                self.warning = f"Your progress file was damaged. It was renamed to {aside}. Your progress starts again."
            except OSError as error:
                self.warning = f"Your progress file {self.path} is damaged and cannot be renamed ({error.strerror})."
        return {}

    def save(self, record: LessonRecord, *, restarted: bool = False) -> None:
        """Add a run to the progress file. Raise `UsageError` if the file cannot be written.

        With `restarted`, forget the earlier unfinished run when the new run has finished its first step.
        """
        lessons = self.load()
        before = lessons.get(record.lesson)
        if before and restarted and record.so_far.steps == 1:
            before = replace(before, left=None)
        lessons[record.lesson] = updated(before, record)
        whole = {"format": FORMAT, "lessons": {name: asdict(each) for name, each in sorted(lessons.items())}}
        write_state(self.path, json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "progress")


def _decode(text: str) -> dict[str, LessonProgress]:
    whole = json.loads(text)
    if whole["format"] != FORMAT:
        raise ValueError(f"format {whole['format']}")
    return {name: _progress(each) for name, each in whole["lessons"].items()}


def _progress(kept: dict[str, Any]) -> LessonProgress:
    """Return a lesson's progress from its fields in the file. Raise an exception if a field is wrong."""
    left = kept.get("left")
    checked = {
        "complete": kept["complete"] is True,
        "steps_done": int(kept["steps_done"]),
        "claims": _claims(kept["claims"]),
        "predictions": {step: PredictionResult(**result) for step, result in kept["predictions"].items()},
        "durations_s": {length: float(took_s) for length, took_s in kept["durations_s"].items()},
        "left": Unfinished(int(left["steps"]), _claims(left["claims"])) if left else None,
    }
    return LessonProgress(**kept | checked)


def _claims(claims: dict[str, str]) -> dict[str, str]:
    return {id_: ClaimStanding(standing).value for id_, standing in claims.items()}
