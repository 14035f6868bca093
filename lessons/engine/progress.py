"""What the reader has done so far: one JSON file in the user's state folder, always whole on the disk.

It is written to a temporary file beside it and renamed, so a crash leaves the old one. A file that cannot be
read back is set aside under another name, with one sentence about it: damaged progress is no reason to
refuse a lesson, and none to throw it away.
"""

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from harness.errors import UsageError
from harness.files import put
from harness.state import FOLDER_VARIABLE, state_folder
from lessons.engine.claim import Standing
from lessons.engine.record import LessonRecord, Unfinished

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Told:
    """A prediction as it is remembered."""

    question: str
    answer: str
    truth: str | None
    right: bool | None


@dataclass(frozen=True, slots=True)
class Standings:
    """One lesson's progress: the best result, where the reader left, and how long a run of each length took here.

    `claims` maps an id to how it fared in the best run; `predictions` maps a step to the latest thing said there.
    `durations_s` has the keys "default" and "fast", each once such a run was complete. `left` is the unfinished run to
    go on from, or None.
    """

    last_run_utc: str
    complete: bool
    steps_done: int
    claims: dict[str, str] = field(default_factory=dict)
    predictions: dict[str, Told] = field(default_factory=dict)
    durations_s: dict[str, float] = field(default_factory=dict)
    left: Unfinished | None = None

    @property
    def held(self) -> int:
        """How many claims of the best run held."""
        return _held(self.claims)

    @property
    def asked(self) -> int:
        """How many claims of the best run could be asked here: all but those skipped."""
        return sum(standing != Standing.SKIPPED for standing in self.claims.values())


def after(record: LessonRecord, before: Standings | None) -> Standings:
    """Return a lesson's progress once `record` has happened. Pure.

    A lesson once complete stays so, with the most claims that ever held in a complete run. Of unfinished runs, the one
    that came furthest is kept. What was predicted in earlier runs is kept where this run skipped it.
    """
    now, left = record.so_far, before.left if before else None
    predictions = dict(before.predictions) if before else {}
    for step in record.steps:
        told = step.prophecy
        if told is not None and told.answer is not None:
            predictions[step.name] = Told(told.question, told.answer, told.truth, told.right)
    durations = dict(before.durations_s) if before else {}
    if record.complete and record.earlier is None:
        durations[length_of(fast=record.fast)] = record.duration_s
    furthest = left if left and left.steps > now.steps else now
    best = now.claims if record.complete else furthest.claims
    if before and before.complete and not (record.complete and _held(best) >= before.held):
        best = before.claims
    return Standings(
        last_run_utc=record.started_utc,
        complete=record.complete or bool(before and before.complete),
        steps_done=now.steps if record.complete else furthest.steps,
        claims=dict(best),
        predictions=predictions,
        durations_s=durations,
        left=None if record.complete else furthest,
    )


def _held(claims: Mapping[str, str]) -> int:
    return sum(standing == Standing.HELD for standing in claims.values())


def length_of(*, fast: bool) -> str:
    """Return the name that a run of this length has in `durations_s`."""
    return "fast" if fast else "default"


class Progress:
    """The progress file. `remark` is empty, or one sentence about a damaged file that was set aside."""

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder or state_folder()) / "progress.json"
        self.remark = ""

    def load(self) -> dict[str, Standings]:
        """Return progress by lesson; empty where there is none yet. Sets a damaged file aside."""
        try:
            return _decode(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            self.remark = f"Your progress in {self.path} cannot be read ({error.strerror}); this run starts afresh."
        except (ValueError, KeyError, TypeError):
            aside = self.path.with_suffix(".damaged.json")
            try:
                self.path.replace(aside)
                self.remark = f"Your progress file was damaged; it is set aside as {aside}, and a new one begins."
            except OSError as error:
                self.remark = f"Your progress file {self.path} is damaged and cannot be moved ({error.strerror})."
        return {}

    def keep(self, record: LessonRecord, *, over: bool = False) -> None:
        """Write `record` into the file; `over` says that the reader started over, and forgets where they had left.

        Raises `UsageError` when it cannot be written.
        """
        lessons = self.load()
        before = lessons.get(record.lesson)
        if before and over and record.so_far.steps == 1:
            before = replace(before, left=None)
        lessons[record.lesson] = after(record, before)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            put(self.path, _encode(lessons).encode(), mode=0o600)
        except OSError as error:
            raise UsageError(
                f"Your progress cannot be kept in {self.path} ({error.strerror}); set {FOLDER_VARIABLE} to "
                "a folder that can be written."
            ) from error


def _encode(lessons: dict[str, Standings]) -> str:
    whole = {"format": FORMAT, "lessons": {name: asdict(each) for name, each in sorted(lessons.items())}}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _decode(text: str) -> dict[str, Standings]:
    whole = _mapping(json.loads(text))
    if whole["format"] != FORMAT:
        raise ValueError(f"format {whole['format']}")
    return {str(name): _standings(_mapping(each)) for name, each in _mapping(whole["lessons"]).items()}


def _standings(each: Mapping[str, object]) -> Standings:
    """Return what `_encode` wrote. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
    when, steps_done = each["last_run_utc"], each["steps_done"]
    if not (isinstance(when, str) and isinstance(steps_done, int)):
        raise TypeError("a run has a time and a number of steps")
    dt.datetime.fromisoformat(when)
    complete, claims = each["complete"] is True, _claims(each["claims"])
    return Standings(
        last_run_utc=when,
        complete=complete,
        steps_done=steps_done,
        claims=claims,
        predictions={step: Told(**_mapping(told)) for step, told in _mapping(each["predictions"]).items()},  # type: ignore[arg-type]  # what is shown of it is only ever printed
        durations_s={length: float(str(took_s)) for length, took_s in _mapping(each["durations_s"]).items()},
        left=_left(each["left"]) if "left" in each else None if complete else Unfinished(steps_done, claims),
    )


def _left(value: object) -> Unfinished | None:
    if value is None:
        return None
    left = _mapping(value)
    steps = left["steps"]
    if not isinstance(steps, int):
        raise TypeError("an unfinished run has a number of steps")
    return Unfinished(steps, _claims(left["claims"]))


def _claims(value: object) -> dict[str, str]:
    return {id_: Standing(str(standing)).value for id_, standing in _mapping(value).items()}


def _mapping(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is no mapping")
    return {str(key): each for key, each in value.items()}
