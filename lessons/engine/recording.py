"""Record a run of a lesson: run it without questions, and save the figures of each step. `--record` does this."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from harness.errors import MachineError
from harness.storage.user_files import state_folder
from lessons.engine.conditions import Conditions
from lessons.engine.figures import Figures, Lacking, as_json
from lessons.engine.interval import ClaimStanding
from lessons.engine.lesson import Lesson, Step
from lessons.engine.recorded_run import DECIDED, RecordedOn, RecordedRun, RecordedStep
from lessons.engine.run import LessonSession, RunOptions
from lessons.engine.screen import Screen


def record(lesson: Lesson, *, fast: bool = False, console: Console | None = None) -> Iterator[Path]:
    """Run a lesson, save the figures of its steps and its other recorded data, and yield the written files.

    A step keeps its earlier record if this run skipped it, or decides fewer of its claims. Raise `MachineError` if this
    machine only simulates the device of the lesson, or, at the end, if the lesson's recorder lacks something.
    """
    if lesson.simulated:
        raise MachineError(
            f"This machine has no {lesson.simulated}. Record lesson {lesson.number} on a machine with one."
        )
    failed = None
    try:
        yield from lesson.recorder(lesson.recorded) if lesson.recorder else ()
    except MachineError as error:
        failed = error
    conditions = Conditions.measure(fast=fast)
    options, screen = RunOptions(fast, optional=True), Screen(console or Console(highlight=False))
    session = LessonSession(lesson, screen, options, conditions, replays=False)
    session.play()
    made_on, steps = RecordedOn.now(conditions.environment), dict(session.recorded.steps)
    for step, done in zip(lesson.steps, session.done, strict=True):
        if not isinstance(done.figures, dict) or all(each.standing is ClaimStanding.SKIPPED for each in done.claims):
            continue
        decided = sum(each.standing in DECIDED for each in done.claims)
        if decided >= _decided(RecordedRun(steps), step):
            steps[step.name] = RecordedStep(made_on, done.duration_s, _without_paths(done.figures))
    known = {step.name: steps[step.name] for step in lesson.steps if step.name in steps}
    yield RecordedRun(known).save(lesson.recorded)
    if failed:
        raise failed


def _decided(run: RecordedRun, step: Step) -> int:
    """Return how many claims the earlier record of a step decides. An outdated record decides none."""
    if step.name not in run.steps:
        return 0
    try:
        return sum(each.standing in DECIDED for each in run.explained(step.document).claims)
    except Exception:  # noqa: BLE001 - a record of other figures can fail in many ways
        return 0


def _without_paths(figures: Figures) -> Figures:
    """Return figures that name no path of this machine, which is useless on other machines."""
    paths = (str(Path.home()), str(state_folder()), tempfile.gettempdir(), str(Path(__file__).parents[2]))
    named = Lacking("the record leaves out a text that names a path of its machine: run this step")
    return {
        name: named if any(path in str(as_json(each)) for path in paths) else each for name, each in figures.items()
    }
