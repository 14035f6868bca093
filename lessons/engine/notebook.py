"""Functions that write a lesson as a Jupyter notebook. Its code cells contain the code that the screen shows.

Each step becomes up to five cells: the text, the code, the question with its options, the student's answer, and the run
with its explanation. The ids of the cells come from the names of the steps. If a lesson
changes and its notebook is written again, only the cells of the changed steps differ.
"""

import importlib
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from harness.errors import UsageError
from harness.storage.notebook_files import Cell, is_unedited, kernel_cell, notebook
from harness.storage.user_files import refuse_edited, write_whole
from lessons.engine import recall
from lessons.engine.conditions import Conditions
from lessons.engine.explain import StepFigures, question
from lessons.engine.glossary import COMMAND
from lessons.engine.lesson import Lesson, Step
from lessons.engine.notebook_screen import for_this_process, markdown
from lessons.engine.phrases import ENGLISH, phrase, speak
from lessons.engine.predict import BETWEEN, Prediction, Score, StudentAnswer
from lessons.engine.progress import ProgressFile
from lessons.engine.record import StepRecord
from lessons.engine.run import LessonSession, RunOptions
from lessons.engine.source import imports_of


def write(lesson: Lesson, path: Path, *, fast: bool, force: bool = False) -> None:
    """Write the lesson to `path` as a notebook. With `fast`, its cells call the steps with the short run's arguments.

    Raise `UsageError` if the file cannot be written. Also raise it if the student may have edited the file, unless
    `force` is true.
    """
    data = notebook_bytes(lesson, fast=fast)
    refuse_edited(path, force=force, is_ours=lambda old: is_unedited(old, data))
    try:
        write_whole(path, data)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}). Name another file.") from error


def notebook_bytes(lesson: Lesson, *, fast: bool) -> bytes:
    """Return the content of the lesson's notebook file."""
    cells = [_words("title", _title(lesson))]
    # `Guide` is imported before torch, so that torch prints nothing about a missing GPU.
    cells.append(kernel_cell("from lessons.engine.notebook import Guide"))
    cells.append(_code("imports", _imports(lesson)))
    for number, step in enumerate(lesson.steps, start=1):
        cells += _step_cells(step, number, fast=fast)
    cells.append(_code("score", "guide.finish()"))
    cells.append(_words("closing", _closing(lesson)))
    return notebook(cells)


class Guide:
    """The object that a notebook's cells use to ask the questions of a lesson, and to run and explain its steps.

    It saves the student's progress as a run in a terminal does. It prints the machine and its noise, and questions
    about the last lesson that the student has completed.
    """

    def __init__(self, module: str, language: str = ENGLISH) -> None:
        speak(language)
        lesson: Lesson = importlib.import_module(module).lesson
        self._lesson = lesson.translated(language)
        self._screen = for_this_process()
        self._progress = ProgressFile()
        options = RunOptions(optional=True)
        self._session = LessonSession(self._lesson, self._screen, options, Conditions.measure())
        self._asked: dict[str, tuple[Prediction, StudentAnswer | None]] = {}
        self._done: dict[str, StepRecord] = {}
        self._screen.note(f"This machine: {self._session.conditions.describe()}")
        before, questions = recall.about_last_lesson(self._lesson.name, self._progress.load())
        if questions:
            self._screen.say(recall.as_markdown(before, questions))

    def predict(self, name: str, answer: str | float = "") -> None:
        """Keep the student's answer to the question of the step `name`. An empty answer skips the question.

        Print the question, if its text contains results of earlier steps, and what was understood.
        """
        step = self._lesson.step(name)
        prediction = self._session.question(step)
        if prediction is None or step.document.question is None:
            return
        if not step.document.question.text.is_fixed:
            self._screen.ask(prediction.question, prediction.offer())
        understood = prediction.parse(str(answer))
        if understood:
            self._screen.say(f"Your answer: {understood.text}.")
        elif str(answer).strip():
            self._screen.say(f"`{answer}` is not one of the answers. {prediction.accepts()}. Then run this cell again.")
        self._asked[name] = (prediction, understood)

    def run(self, function: Callable[..., object], **arguments: float) -> None:
        """Run the code of a step, and print and explain its result. `arguments` are those of the short run."""
        step, screen = self._lesson.step(function.__name__), self._screen
        if step.name in self._done:
            screen.note("This step ran before in this kernel. What is slow only in the first call is fast now.")
        began_s = time.perf_counter()
        try:
            with screen.measuring(step.name, 0.0 if arguments else self._session.usual_s(step)):
                result = self._result(step, function, arguments)
        except KeyboardInterrupt:
            screen.say("You interrupted this step. To run the step, run this cell again.")
            return
        duration_s = time.perf_counter() - began_s
        prediction, answer = self._asked.get(step.name) or (self._session.question(step), None)
        self._done[step.name] = self._session.explain(step, result, prediction, answer, duration_s)
        self._save(short=bool(arguments))

    def finish(self) -> None:
        """Print the student's score, and the steps that have not run."""
        missing = [step.title for step in self._lesson.steps if step.name not in self._done and not step.optional]
        if missing:
            self._screen.say(f"These steps have not run: {', '.join(missing)}.")
        known = self._progress.load().get(self._lesson.name)
        self._screen.score(Score.of(known.predictions.values() if known else ()))

    def _result(self, step: Step, function: Callable[..., object], arguments: Mapping[str, float]) -> object:
        if step.document.needs:
            self._session.results[step.document.needs]
        try:
            return function(**arguments)
        except NameError as error:
            if not hasattr(sys.modules[step.function.__module__], error.name or ""):
                raise
            self._screen.note(f"The cell that defines {error.name} has not run, so the lesson's own code runs instead.")
            return step.function(**arguments)

    def _save(self, *, short: bool) -> None:
        """Save the steps from the first one to the first that has not run. Left out optional steps count as run."""
        done: list[StepRecord] = []
        for step in self._lesson.steps:
            if step.name not in self._done and not step.optional:
                break
            done.append(self._done.get(step.name) or StepRecord(step.name, step.title))
        if not any(record.name in self._done for record in done):
            return
        self._session.done = done
        record = replace(self._session.record(), fast=short, duration_s=sum(each.duration_s for each in done))
        try:
            self._progress.save(record)
        except UsageError as error:
            self._screen.note(str(error))


def _step_cells(step: Step, number: int, *, fast: bool) -> list[Cell]:
    arguments = "".join(f", {name}={value!r}" for name, value in step.document.fast.items()) if fast else ""
    optional = " (optional)" if step.optional else ""
    cells = [
        _words(step.name, f"## {number}. {step.title}{optional}\n\n{step.introduction}"),
        _code(f"{step.name}-code", "\n\n\n".join(step.codes)),
    ]
    asked, run = step.document.question, f"guide.run({step.name}{arguments})"
    if asked is not None:
        if asked.text.is_fixed:
            cells.append(_words(f"{step.name}-question", _question(question(asked, StepFigures({})))))
        cells.append(_code(f"{step.name}-predict", f'guide.predict("{step.name}", answer="")'))
    if step.optional:
        run = f"# Remove the # to run this optional step.\n# {run}"
    return [*cells, _code(f"{step.name}-run", run)]


def _question(prediction: Prediction) -> str:
    """Return the text of a question and its options for the cell above the answer."""
    options = "\n".join(f"- {option}" for option in prediction.offer().split(BETWEEN))
    return f"**{phrase('Predict')}** {markdown(prediction.question)}\n\n{markdown(options)}"


def _words(id_: str, text: str) -> Cell:
    return Cell(f"{id_}-words"[:64], "markdown", text)


def _code(id_: str, text: str) -> Cell:
    return Cell(id_[:64], "code", text)


def _imports(lesson: Lesson) -> str:
    code = "\n".join(text for step in lesson.steps for text in step.codes)
    imports = imports_of(lesson.file, needed_by=code)
    language = f', language="{lesson.language}"' if lesson.language else ""
    return f'{imports}\n\nguide = Guide("lessons.{lesson.name}"{language})'


def _title(lesson: Lesson) -> str:
    entry = lesson.entry
    exercise = f", and {entry.exercise_minutes} minutes for its exercise" if entry.exercise_minutes else ""
    times = f"{entry.minutes} minutes{exercise}. {entry.advice}".rstrip()
    return (
        f"# Lesson {lesson.number} · {lesson.title}\n\n{lesson.opening}\n\n{times}\n\n"
        "Run the cells from top to bottom. Before you run the cell below a question, type your answer between its "
        "quotes: the letter of an option, or a number. After a restart of the kernel, first run the first two code "
        "cells again.\n\n"
        f"`{COMMAND} TERM` explains a term."
    )


def _closing(lesson: Lesson) -> str:
    points = "\n".join(f"- {point}" for point in lesson.document.key_points)
    references = "\n".join(f"- {reference}" for reference in lesson.document.references)
    return (
        f"## Key points\n\n{points}\n\n## References\n\n{references}\n\n## Your turn\n\n"
        f"Open the exercise as a notebook: `notebooks/{lesson.name}.ipynb`. "
        f"Or edit `lessons/exercises/{lesson.name}.py`, then run `fairclock check {lesson.name}`."
    )
