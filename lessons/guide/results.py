"""The results of runs of lessons: what was measured, on which machine, and the pictures that the lessons drew.

A folder of results has the file `LESSON.json` for each lesson (option `--json` of the lesson) and its pictures (option
`--plots`). `python -m lessons guide OUT --run` makes such a folder. Without it, the pack shows the recorded runs of the
kit, `lessons/recorded/LESSON/run.json`.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.errors import UsageError
from harness.rendering.tables import Table
from harness.storage.user_files import FOLDER_VARIABLE
from lessons.engine.catalogue import FOLDER
from lessons.engine.record import FORMAT
from lessons.engine.recorded_parts import Paragraph, RecordedClaim, RecordedPicture, RevealedAnswer
from lessons.engine.recorded_run import FILE, RecordedRun, RecordedStep, drawings_of

RECORDED: Final = FOLDER / "recorded"


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The result of one claim: the measured value as text, and "held", "refuted", "inconclusive" or "skipped".

    `low` and `high` are the bounds of the claim. `ends` are the ends of the measured interval, if they are known.
    """

    verdict: str
    shown: str
    reason: str
    measured: float | None
    low: float | None
    high: float | None
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A table that a step showed, or a picture made of characters. A table has no `text`, and a picture no `rows`."""

    title: str
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class LessonResults:
    """The results of one run of a lesson.

    `questions` and `truths` are the question and the right answer of each step, by the name of the step. A right answer
    can have more sentences after it. `pictures` are the SVG texts of each step, `shown` are its tables, and
    `paragraphs` its recorded texts.
    """

    machine: str
    date: str
    questions: Mapping[str, str] = field(default_factory=dict)
    truths: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, ClaimResult] = field(default_factory=dict)
    pictures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shown: Mapping[str, tuple[Shown, ...]] = field(default_factory=dict)
    paragraphs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def recorded(folder: Path = RECORDED) -> dict[str, LessonResults]:
    """Return the results of each recorded run of the kit, by the lesson's name.

    Raise `UsageError` if a file cannot be read.
    """
    found = {}
    for file in sorted(folder.glob(f"*/{FILE}")):
        try:
            found[file.parent.name] = _recorded(RecordedRun.load(file.parent).steps, file.parent)
        except (UsageError, StopIteration) as error:
            raise UsageError(f"{file} is not a recorded run. Install fairclock again.") from error
    return found


def load(folder: Path) -> dict[str, LessonResults]:
    """Return the results of each lesson in a folder, by the lesson's name.

    Raise `UsageError` if the folder has no results, or if a file cannot be read.
    """
    files = sorted(folder.glob("[0-9][0-9]_*.json"))
    if not files:
        raise UsageError(f"{folder} contains no results of lessons. Write some: python -m lessons guide OUT --run")
    found = {}
    for file in files:
        try:
            found[file.stem] = _read(file)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{file} is not a file that `python -m lessons {file.stem} --json` wrote.") from error
    return found


def run_all(names: Iterable[str], folder: Path, report: Callable[[str], None]) -> list[str]:
    """Run lessons, and write their results and pictures to `folder`. Return the names of the lessons that failed.

    `report` is called with the name of each lesson before its run. The student's progress is not changed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    with tempfile.TemporaryDirectory() as state:
        environment = {**os.environ, FOLDER_VARIABLE: state}
        for name in names:
            report(name)
            options = ["--no-input", "--force", "--json", str(folder / f"{name}.json"), "--plots", str(folder)]
            command = [sys.executable, "-m", f"lessons.{name}", *options]
            ran = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
            if ran.returncode:
                failed.append(name)
                (folder / f"{name}.json").unlink(missing_ok=True)
    return failed


def _read(file: Path) -> LessonResults:
    whole: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if whole["format"] != FORMAT:
        raise ValueError(whole["format"])
    asked = {step["name"]: step["prediction"] for step in whole["steps"] if step["prediction"]}
    return LessonResults(
        machine=_machine(whole["environment"]),
        date=str(whole["started_utc"]).partition("T")[0],
        questions={name: each["question"] for name, each in asked.items()},
        truths={name: each["truth"] for name, each in asked.items() if each["truth"]},
        claims={each["id"]: _claim(each) for each in whole["claims"]},
        pictures=_pictures(file),
    )


def _recorded(steps: Mapping[str, RecordedStep], folder: Path) -> LessonResults:
    """Return the results of a recorded run in its folder. Its machine and date are those of its first step."""
    made_on = next(iter(steps.values())).made_on
    parts = [(name, part) for name, step in steps.items() for part in step.parts]
    shown: dict[str, tuple[Shown, ...]] = {}
    for name, part in parts:
        if isinstance(part, Table | RecordedPicture):
            shown[name] = (*shown.get(name, ()), _shown(part))
    return LessonResults(
        machine=_machine({**asdict(made_on), "cuda_device": made_on.gpu}),
        date=made_on.date,
        questions={name: step.question for name, step in steps.items() if step.question},
        truths={name: part.text for name, part in parts if isinstance(part, RevealedAnswer)},
        claims={part.id: _recorded_claim(part) for _, part in parts if isinstance(part, RecordedClaim)},
        pictures={name: (*_texts(drawings_of(folder, name)), *_svgs(step)) for name, step in steps.items()},
        shown=shown,
        paragraphs={
            name: tuple(part.text for part in step.parts if isinstance(part, Paragraph | RevealedAnswer))
            for name, step in steps.items()
        },
    )


def _recorded_claim(part: RecordedClaim) -> ClaimResult:
    ends = None if part.low is None or part.high is None else (part.low, part.high)
    return ClaimResult(part.standing, part.value, "", part.middle, part.at_least, part.at_most, ends)


def _svgs(step: RecordedStep) -> tuple[str, ...]:
    return tuple(part.svg for part in step.parts if isinstance(part, RecordedPicture) and part.svg)


def _texts(files: Iterable[Path]) -> tuple[str, ...]:
    return tuple(file.read_text(encoding="utf-8") for file in files)


def _shown(part: Table | RecordedPicture) -> Shown:
    if isinstance(part, RecordedPicture):
        return Shown(part.caption, text=part.text)
    return Shown(part.title, tuple(part.heads), tuple(map(tuple, part.rows)))


def _claim(claim: Mapping[str, Any]) -> ClaimResult:
    return ClaimResult(
        claim["verdict"],
        claim["shown"],
        claim["reason"],
        claim["measured"],
        claim["low"],
        claim["high"],
    )


def _machine(environment: Mapping[str, Any]) -> str:
    gpu = environment.get("cuda_device") or "no GPU"
    return (
        f"{environment['cpu']}, {environment['cores']} cores, {gpu}, Python {environment['python']}, "
        f"torch {environment['torch']}"
    )


def _pictures(file: Path) -> dict[str, tuple[str, ...]]:
    """Return the SVG texts of each step. A picture's file name is `LESSON-STEP-NAME.svg`."""
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(file.parent.glob(f"{file.stem}-*.svg")):
        step = path.stem.split("-")[1]
        found[step] = (*found.get(step, ()), path.read_text(encoding="utf-8"))
    return found
