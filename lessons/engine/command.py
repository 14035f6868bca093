"""The command of a lesson. It reads the options, runs the lesson or writes a file, and returns an exit code.

Each error is one line on standard error. The exit codes are:

- 0: the lesson ran, with any results of its claims, or the student left it with Ctrl-D.
- 1: the lesson has an error, or its output was closed.
- 2: the command line or a file was wrong.
- 130: the student pressed Ctrl-C.
"""

import contextlib
import gc
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from harness.command_line import INTERRUPTED, Version, guarded
from harness.errors import UsageError
from harness.rendering import units
from lessons.engine import notebook as notebooks
from lessons.engine import recall
from lessons.engine.conditions import Conditions
from lessons.engine.lesson import Lesson
from lessons.engine.markup import plain
from lessons.engine.outputs import picture_saver, writable, write_json
from lessons.engine.phrases import ENGLISH, speak
from lessons.engine.predict import Score
from lessons.engine.progress import LessonProgress, ProgressFile, length_of, updated
from lessons.engine.record import LessonRecord, Unfinished
from lessons.engine.recorded_run import RecordedRun
from lessons.engine.recording import record as record_run
from lessons.engine.route import chosen, lessons_of
from lessons.engine.run import LessonSession, RunOptions, continued, step_number, unfinished
from lessons.engine.screen import Screen

# torch 2.11 prints this at each use of its profiler, even without a schedule of several cycles.
_PROFILER_WARNING: Final = "Warning: Profiler clears events"


def main(lesson: Lesson) -> None:
    """Run `lesson` with the arguments of this process, and end the process with the lesson's exit code."""
    sys.exit(run_command(lesson, sys.argv[1:]))


def run_command(lesson: Lesson, arguments: Sequence[str]) -> int:
    """Run `lesson` with the given command line, and return the exit code."""
    warnings.filterwarnings("ignore", _PROFILER_WARNING)
    return guarded(_app(lesson), f"fairclock lessons {lesson.name}", arguments)


@dataclass(frozen=True, slots=True)
class _Options:
    run: RunOptions
    json_file: Path | None
    plots: Path | None
    first: int | None


def _app(lesson: Lesson) -> typer.Typer:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

    @app.command(help=plain(f"Lesson {lesson.number}: {lesson.title} {lesson.opening}"))
    def command(
        no_input: Annotated[bool, typer.Option("--no-input", help="Do not wait for predictions.")] = False,
        fast: Annotated[bool, typer.Option("--fast", help="Measure for a shorter time, with wider intervals.")] = False,
        from_step: Annotated[
            str | None, typer.Option("--from", metavar="STEP", help="Start at the step with this number or name.")
        ] = None,
        json_file: Annotated[
            Path | None, typer.Option("--json", metavar="FILE", help="Write the claims and the environment to FILE.")
        ] = None,
        notebook: Annotated[
            Path | None, typer.Option(metavar="FILE", help="Write the lesson to FILE as a notebook; do not run it.")
        ] = None,
        plots: Annotated[Path | None, typer.Option(metavar="DIR", help="Save the pictures in DIR, as SVG.")] = None,
        force: Annotated[bool, typer.Option("--force", help="Overwrite files that you may have edited.")] = False,
        every: Annotated[bool, typer.Option("--all", help="Also run the optional steps.")] = False,
        language: Annotated[
            str, typer.Option(metavar="CODE", help="Show a translation of the lesson, such as ko, where there is one.")
        ] = ENGLISH,
        list_steps: Annotated[bool, typer.Option("--list-steps", help="List the steps and claims, and exit.")] = False,
        record: Annotated[
            bool,
            typer.Option("--record", hidden=True, help="Run the lesson, and save what each step showed."),
        ] = False,
        debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
        version: Version = False,
    ) -> int:
        del debug, version  # `guarded` reads `debug` from the arguments, and the callback of `version` has already run
        speak(language)
        shown = lesson.translated(language)
        if list_steps:
            return _list_steps(shown)
        if record:
            return _record(lesson, fast=fast)
        if notebook is not None:
            if notebook.suffix != ".ipynb":
                raise UsageError(f"{notebook} is not the name of a notebook. Name a file that ends in .ipynb.")
            notebooks.write(shown, notebook, fast=fast, force=force)
            print(f"Wrote {notebook}. Open it with Jupyter and run its cells from top to bottom.")
            return 0
        interactive = not no_input and sys.stdin.isatty() and sys.stdout.isatty()
        first = None if from_step is None else step_number(lesson, from_step)
        options = RunOptions(fast, interactive, picture_saver(plots, lesson.name, force=force), optional=every)
        with writable(json_file, force=force), _imports_frozen():
            return _run(shown, _Options(options, json_file, plots, first))

    return app


@contextlib.contextmanager
def _imports_frozen() -> Iterator[None]:
    # Searching the imported objects for garbage takes 0.1 s in each duel. Without `unfreeze`, Python would not free
    # them at its exit, and Triton 3.9 would report its own objects as leaked.
    gc.freeze()
    gc.enable()  # `lessons/__init__.py` disabled the garbage collector
    try:
        yield
    finally:
        gc.unfreeze()


def _record(lesson: Lesson, *, fast: bool) -> int:
    with _imports_frozen():
        for path in record_run(lesson, fast=fast):
            print(f"Wrote {path}.")
    if unclear := RecordedRun.load(lesson.recorded).undecided(lesson.document):
        print(f"The record could not decide these claims: {', '.join(unclear)}. Close other programs, and run again.")
    return 0


def _list_steps(lesson: Lesson) -> int:
    for number, step in enumerate(lesson.steps, start=1):
        print(f"{number}  {plain(step.title)}  ({step.name})")
        for claim in step.document.claims:
            print(f"     {claim.id}: {plain(claim.sentence)}")
    return 0


def _run(lesson: Lesson, options: _Options) -> int:
    screen, progress = Screen(Console(highlight=False)), ProgressFile()
    before = progress.load().get(lesson.name)
    conditions = _header(lesson, screen, progress, before, fast=options.run.fast)
    saver = _Saver(progress, screen)
    session = LessonSession(lesson, screen, replace(options.run, keep=saver), conditions)
    code = _play(session, saver, unfinished(lesson, before), options)
    if code == 0:
        if session.done:
            screen.score(Score.of(updated(before, session.record()).predictions.values()))
        if session.start + len(session.done) == len(lesson.steps):
            screen.your_turn(
                f"lessons/exercises/{lesson.name}.py", f"fairclock check {lesson.name}", _next_lesson(lesson)
            )
    if options.json_file is not None:
        write_json(session.record().to_json(), options.json_file)
        screen.note(f"Claims and environment: {options.json_file}")
    if options.plots is not None:
        drawn = len(list(options.plots.glob(f"{lesson.name}-*.svg")))
        screen.note(f"{units.some(drawn, 'picture')}: {options.plots}" if drawn else "This run drew no pictures.")
    return code


def _next_lesson(lesson: Lesson) -> str:
    """Return the command for the lesson after `lesson` in the student's path, or "" if there is none."""
    path = lessons_of(chosen())
    following = path[path.index(lesson.name) + 1 :] if lesson.name in path else ()
    return f"fairclock lessons {following[0]}" if following else ""


def _header(
    lesson: Lesson, screen: Screen, progress: ProgressFile, before: LessonProgress | None, *, fast: bool
) -> Conditions:
    entry, ran_s = lesson.entry, before.durations_s.get(length_of(fast=fast)) if before else None
    runs = f"runs {units.seconds(ran_s, 2)}" if ran_s else f"runs up to {units.seconds(entry.longest_s[fast])}"
    after = f"Exercise afterwards: {entry.exercise_minutes} min." if entry.exercise_minutes else ""
    conditions = Conditions.measure(fast=fast)
    screen.header(
        f"Lesson {lesson.number} · {lesson.title}",
        f"{entry.minutes} min, {runs}",
        lesson.opening,
        f"{entry.advice} {after}".strip(),
        conditions.describe(),
    )
    for note in filter(None, (conditions.environment.caution(), progress.warning)):
        screen.note(note)
    return conditions


@dataclass(slots=True)
class _Saver:
    progress: ProgressFile
    screen: Screen
    restarted: bool = False
    failed: bool = False

    def __call__(self, record: LessonRecord) -> None:
        try:
            self.progress.save(record, restarted=self.restarted)
        except UsageError as error:
            if not self.failed:
                self.screen.note(str(error))
            self.failed = True


def _first_step(session: LessonSession, saver: _Saver, left: Unfinished | None, options: _Options) -> int:
    """Return the number of the first step of the run. Ask the student whether to continue an unfinished run."""
    screen = session.screen
    if options.first is not None:
        return options.first
    if left is None or not options.run.interactive:
        return 1
    if options.json_file is not None or options.plots is not None:
        screen.note(f"Your last run ended after step {left.steps}. With --json or --plots, all steps run again.")
    elif screen.continues(left.steps, len(session.lesson.steps)):
        return left.steps + 1
    saver.restarted = True
    return 1


def _play(session: LessonSession, saver: _Saver, left: Unfinished | None, options: _Options) -> int:
    screen, name = session.screen, session.lesson.name
    try:
        first = _first_step(session, saver, left, options)
        session.start, session.earlier = first - 1, continued(session.lesson, first, left)
        asks = options.run.interactive and first == 1
        before, questions = recall.about_last_lesson(name, saver.progress.load()) if asks else ("", ())
        if questions:
            with session.waiting():
                recall.play(before, questions, screen)
        session.play()
    except (EOFError, KeyboardInterrupt) as leaving:
        kept = unfinished(session.lesson, saver.progress.load().get(name))
        if session.record().complete:
            screen.note("You left after the last step. Your results are saved.")
        else:
            # A run that began at a later step keeps its answers, and only `--from` continues it.
            alone = session.start > 0 and not session.record().gapless
            following = session.start + len(session.done) + 1 if alone else kept.steps + 1 if kept else 1
            command = f"fairclock lessons {name}{f' --from {following}' if alone else ''}"
            screen.note(f"You left the lesson. Your {'answers' if alone else 'finished steps'} are saved.")
            screen.note(f"To continue with step {following}:  {command}")
        return 0 if isinstance(leaving, EOFError) else INTERRUPTED
    return 0
