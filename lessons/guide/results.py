"""The results of runs of lessons: the figures of each step, on which machine and when they were measured.

A folder of results has the file `LESSON.json` for each lesson (option `--json` of the lesson). `python -m lessons guide
OUT --run` makes such a folder. Without it, the pack shows the recorded runs of the kit, `lessons/recorded/LESSON/`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.errors import UsageError
from lessons.engine.catalogue import FOLDER
from lessons.engine.check_claims import LessonRun, run_lesson
from lessons.engine.figures import Figures, figures_from_json
from lessons.engine.outputs import write_json
from lessons.engine.record import FORMAT
from lessons.engine.recorded_run import FILE, RecordedRun

RECORDED: Final = FOLDER / "recorded"


@dataclass(frozen=True, slots=True)
class LessonResults:
    """The results of one run of a lesson: the figures of each step, by its name. A step without results is missing."""

    machine: str
    date: str
    figures: Mapping[str, Figures] = field(default_factory=dict)


def recorded(folder: Path = RECORDED) -> dict[str, LessonResults]:
    """Return the results of each recorded run of the kit, by the lesson's name. Machine and date are of its first step.

    Raise `UsageError` if a file cannot be read.
    """
    found = {}
    for file in sorted(folder.glob(f"*/{FILE}")):
        steps = RecordedRun.load(file.parent).steps
        if not steps:
            raise UsageError(f"{file} has no recorded step. Install fairclock again.")
        made_on = next(iter(steps.values())).made_on
        machine = _machine({**asdict(made_on), "cuda_device": made_on.gpu})
        found[file.parent.name] = LessonResults(
            machine, made_on.date, {name: step.figures for name, step in steps.items()}
        )
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
            found[file.stem] = _read(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{file} is not a file that `python -m lessons {file.stem} --json` wrote.") from error
    return found


def run_all(names: Iterable[str], folder: Path, report: Callable[[str], None]) -> list[LessonRun]:
    """Run lessons with their optional steps, and write their results to `folder`. Return the runs that failed.

    `report` is called with the name of each lesson before its run. The student's progress is not changed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in names:
        report(name)
        run, file = run_lesson(name, "--all"), folder / f"{name}.json"
        if run.fault:
            failed.append(run)
            file.unlink(missing_ok=True)
        else:
            write_json(dict(run.record), file)
    return failed


def _read(whole: Mapping[str, Any]) -> LessonResults:
    if whole["format"] != FORMAT:
        raise ValueError(whole["format"])
    figures = {step["name"]: figures_from_json(step["figures"]) for step in whole["steps"] if step["figures"]}
    return LessonResults(_machine(whole["environment"]), str(whole["started_utc"]).partition("T")[0], figures)


def _machine(environment: Mapping[str, Any]) -> str:
    gpu = environment.get("cuda_device") or "no GPU"
    return (
        f"{environment['cpu']}, {environment['cores']} cores, {gpu}, Python {environment['python']}, "
        f"torch {environment['torch']}"
    )
