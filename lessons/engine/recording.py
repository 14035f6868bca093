"""Record a run of a lesson: run it without questions, and save what each step showed. `--record` does this."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from rich.console import Console

from harness.errors import MachineError
from harness.rendering.tables import Table
from harness.storage.user_files import state_folder
from lessons.engine.claim import SettledClaim
from lessons.engine.conditions import Conditions
from lessons.engine.lesson import Lesson
from lessons.engine.recorded_parts import (
    Paragraph,
    Part,
    RecordedClaim,
    RecordedPicture,
    RevealedAnswer,
)
from lessons.engine.recorded_run import RecordedOn, RecordedRun, RecordedStep, drawings_of
from lessons.engine.run import LessonSession, RunOptions
from lessons.engine.screen import Screen

MOST_DRAWING_BYTES = 100_000
"""The size of the largest SVG file that is kept beside a record, because the student kit contains the records."""


class RecordingScreen(Screen):
    """A screen that also keeps the question and the parts of the explanation of each step, in the order of the steps.

    The question of a step is "" if the step asks none.
    """

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.steps: list[list[Part]] = []
        self.questions: list[str] = []

    def open_step(self, number: int, steps: int, title: str, introduction: str) -> None:
        """Print the title of a step. The following parts belong to this step."""
        self.steps.append([])
        self.questions.append("")
        super().open_step(number, steps, title, introduction)

    def ask(self, question: str, offer: str, *, label: str = "Predict") -> None:
        """Print and keep the question of a step."""
        self.questions[-1] = question
        super().ask(question, offer, label=label)

    def say(self, text: str) -> None:
        """Print and keep a paragraph."""
        self._keep(Paragraph(text))
        super().say(text)

    def reveal(self, text: str, *, right: bool | None, label: str = "Measured") -> None:
        """Print and keep the right answer to a question."""
        self._keep(RevealedAnswer(text))
        super().reveal(text, right=right, label=label)

    def table(self, table: Table) -> None:
        """Print and keep a table."""
        self._keep(table)
        super().table(table)

    def picture(self, text: str, caption: str) -> None:
        """Print and keep a picture made of characters."""
        self._keep(RecordedPicture(text, caption))
        super().picture(text, caption)

    def claim(self, settled: SettledClaim, remark: str) -> None:
        """Print and keep a claim."""
        self._keep(RecordedClaim.of(settled, remark))
        super().claim(settled, remark)

    def _keep(self, part: Part) -> None:
        self.steps[-1].append(part)


def record(lesson: Lesson, *, fast: bool = False, console: Console | None = None) -> Iterator[Path]:
    """Run a lesson, save what each step showed and the lesson's other recorded data, and yield the written files.

    The SVG pictures of a step become files beside its record, if they are small. If the earlier record of a step
    decides more of the same claims, the step keeps it. Raise `MachineError` if this machine only simulates the device
    of the lesson, or, at the end, if the lesson's recorder lacks something.
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
    screen = RecordingScreen(console or Console(highlight=False))
    conditions = Conditions.measure(fast=fast)
    drawings: dict[str, str] = {}
    options = RunOptions(fast, False, drawings.__setitem__, lambda _: None, optional=True)
    session = LessonSession(lesson, screen, options, conditions)
    session.replays = False
    session.play()
    made_on = RecordedOn.now(conditions.environment)
    steps = dict(RecordedRun.load(lesson.recorded).steps)
    for step, parts, question, done in zip(lesson.steps, screen.steps, screen.questions, session.done, strict=True):
        asked = question if callable(step.predict) else ""
        kept = tuple(part for part in parts if not _names_a_path(part))
        figures = done.figures if isinstance(done.figures, dict) else None
        found = RecordedStep(made_on, kept, asked, figures, done.duration_s)
        earlier = steps.get(step.name)
        worse = earlier and earlier.claims.keys() == found.claims.keys() and earlier.decided > found.decided
        if not found.skipped and not worse:
            steps[step.name] = found
            yield from _save_drawings(lesson, step.name, {} if step.document else drawings)
    known = {step.name: steps[step.name] for step in lesson.steps if step.name in steps}
    yield RecordedRun(known).save(lesson.recorded)
    if failed:
        raise failed


def _save_drawings(lesson: Lesson, step: str, drawings: Mapping[str, str]) -> Iterator[Path]:
    """Replace the recorded SVG files of a step, and yield the new files. `drawings` are SVG texts by their full name.

    Leave out large drawings, and drawings with a path of this machine.
    """
    for old in drawings_of(lesson.recorded, step):
        old.unlink()
    lesson.recorded.mkdir(parents=True, exist_ok=True)
    for name, drawing in drawings.items():
        file = lesson.recorded / f"{name.removeprefix(f'{lesson.name}-')}.svg"
        small = len(drawing.encode()) <= MOST_DRAWING_BYTES
        if file.name.startswith(f"{step}-") and small and not _names_a_path(drawing):
            file.write_text(drawing, encoding="utf-8")
            yield file


def _names_a_path(part: Part | str) -> bool:
    """Return whether a part or a drawing contains a path of this machine, which is useless on other machines."""
    paths = (str(Path.home()), str(state_folder()), tempfile.gettempdir(), str(Path(__file__).parents[2]))
    return any(path in repr(part) for path in paths)
