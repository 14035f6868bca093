"""A lesson as a command: options in, a run or a file out, an exit code back.

0: the lesson ran, whatever its claims came to, or the reader left it with Ctrl-D. 2: the command line or a
file was wrong. 130: Ctrl-C. 1: the lesson itself is at fault, or nobody reads what it prints. Every problem
is one sentence on standard error.
"""

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness import units
from harness.command import INTERRUPTED, Version, guarded
from harness.errors import UsageError
from lessons.engine import notebook as notebooks
from lessons.engine.lesson import Lesson
from lessons.engine.outputs import picture_saver, writable, write_json
from lessons.engine.progress import Progress, Standings, length_of
from lessons.engine.record import LessonRecord, Unfinished
from lessons.engine.run import Session, Settings
from lessons.engine.screen import Screen
from lessons.engine.today import Today


def run_command(lesson: Lesson, arguments: Sequence[str]) -> int:
    """Run `lesson` as the command line `arguments` ask, and return the exit code."""
    return guarded(_app(lesson), f"python -m lessons.{lesson.name}", arguments)


def _app(lesson: Lesson) -> typer.Typer:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

    @app.command(help=f"Lesson {lesson.number}: {lesson.title} {lesson.objective}")
    def command(
        no_input: Annotated[bool, typer.Option("--no-input", help="Never wait for a prediction.")] = False,
        fast: Annotated[bool, typer.Option("--fast", help="A short run: shorter timings, more doubt.")] = False,
        json_file: Annotated[
            Path | None, typer.Option("--json", metavar="FILE", help="Write claims and environment there.")
        ] = None,
        notebook: Annotated[
            Path | None, typer.Option(metavar="FILE", help="Write the lesson as a notebook, and run nothing.")
        ] = None,
        plots: Annotated[Path | None, typer.Option(metavar="DIR", help="Save the pictures there, as SVG.")] = None,
        force: Annotated[bool, typer.Option("--force", help="Overwrite files that you may have edited.")] = False,
        list_steps: Annotated[bool, typer.Option("--list-steps", help="List steps and claims only.")] = False,
        debug: Annotated[bool, typer.Option("--debug", help="Show where a fault of the lesson lies.")] = False,
        version: Version = False,
    ) -> int:
        del debug, version  # read by `guarded`, which also sees what goes wrong before this, and by its own callback
        if list_steps:
            return _list_steps(lesson)
        if notebook is not None:
            notebooks.write(lesson, notebook, fast=fast, force=force)
            print(f"Wrote {notebook}. Open it with Jupyter and run its cells from top to bottom.")
            return 0
        interactive = not no_input and sys.stdin.isatty() and sys.stdout.isatty()
        save = picture_saver(plots, lesson.name, force=force)
        with writable(json_file, force=force), _imports_frozen():
            return _take(lesson, save, fast=fast, interactive=interactive, json_file=json_file, plots=plots)

    return app


@contextlib.contextmanager
def _imports_frozen() -> Iterator[None]:
    """Keep the garbage collector away from what the imports made: to search it takes each duel a tenth of a second.

    At the end the collector sees all of it again. Frozen objects are never freed when Python exits, and Triton 3.9
    then reports each of its own as leaked.
    """
    gc.freeze()
    gc.enable()  # see `lessons`
    try:
        yield
    finally:
        gc.unfreeze()


def _list_steps(lesson: Lesson) -> int:
    for number, step in enumerate(lesson.steps, start=1):
        print(f"{number}  {step.title}  ({step.name})")
        for id_, sentence in step.claims.items():
            print(f"     {id_}: {sentence.replace('`', '')}")
    return 0


def _take(
    lesson: Lesson,
    save: Callable[[str, str], None],
    *,
    fast: bool,
    interactive: bool,
    json_file: Path | None,
    plots: Path | None,
) -> int:
    screen, progress = Screen(Console(highlight=False)), Progress()
    before = progress.load().get(lesson.name)
    ran_s = before.durations_s.get(length_of(fast=fast)) if before else None
    limit_s = lesson.longest_s[fast]
    runs = f"runs {units.seconds(ran_s, 2)}" if ran_s else f"runs up to {units.seconds(limit_s)}"
    today = Today.measure(fast=fast)
    screen.header(
        f"Lesson {lesson.number} · {lesson.title}",
        f"{lesson.minutes} min, {runs}",
        lesson.objective,
        today.describe(),
    )
    for note in filter(None, (today.environment.caution(), progress.remark)):
        screen.note(note)
    left = _left(lesson, before) if interactive else None
    whole = json_file is not None or plots is not None
    if left and whole:
        screen.note(f"You left after step {left.steps}. With --json or --plots, all steps run again.")
    keeper = _Keeper(progress, screen)
    session = Session(lesson, screen, Settings(fast, interactive, save, keeper), today)
    code = _play(session, keeper, None if whole else left)
    if json_file is not None:
        sentences = {id_: sentence for step in lesson.steps for id_, sentence in step.claims.items()}
        write_json(session.record().to_json(sentences), json_file)
        screen.note(f"Claims and environment: {json_file}")
    if plots is not None:
        screen.note(f"Pictures: {plots}")
    return code


def _left(lesson: Lesson, before: Standings | None) -> Unfinished | None:
    """Return the run to go on from: an unfinished one whose claims are those of the lesson's first steps."""
    left = before.left if before else None
    if left is None or not 0 < left.steps < len(lesson.steps):
        return None
    declared = {id_ for step in lesson.steps[: left.steps] for id_ in step.claims}
    return left if declared == set(left.claims) else None


@dataclass(slots=True)
class _Keeper:
    """Keeps what has happened so far; the first time that this fails, the reader is told why."""

    progress: Progress
    screen: Screen
    over: bool = False
    complained: bool = False

    def __call__(self, record: LessonRecord) -> None:
        try:
            self.progress.keep(record, over=self.over)
        except UsageError as error:
            if not self.complained:
                self.screen.note(str(error))
            self.complained = True


def _play(session: Session, keeper: _Keeper, left: Unfinished | None) -> int:
    """Play the lesson, going on from `left` if the reader wants that; return the exit code."""
    screen, steps = session.screen, len(session.lesson.steps)
    try:
        if left and screen.goes_on(left.steps, steps):
            session.earlier = left
        keeper.over = left is not None and session.earlier is None
        session.play()
    except (EOFError, KeyboardInterrupt) as leaving:
        kept = _left(session.lesson, keeper.progress.load().get(session.lesson.name))
        then = f"next time at a terminal: step {kept.steps + 1 if kept else 1}"
        screen.note(f"You left here; what you did is kept; {'all is done' if session.record().complete else then}.")
        return 0 if isinstance(leaving, EOFError) else INTERRUPTED
    name = session.lesson.name
    screen.your_turn(f"lessons/exercises/{name}.py", f"python -m grader check {name}")
    return 0
