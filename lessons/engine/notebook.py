"""Functions that write a lesson as a Jupyter notebook. Its code cells contain the code that the screen shows.

Each step becomes up to five cells: the text, the code, the question with its options, the student's answer, and the run
with its explanation. The ids of the cells come from the names of the steps. If a lesson
changes and its notebook is written again, only the cells of the changed steps differ.
"""

import importlib
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from html import escape
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.errors import UsageError
from harness.rendering.tables import Table
from harness.rendering.units import seconds
from harness.storage.notebook_files import Cell, as_bytes, is_unedited, kernel_cell, notebook
from harness.storage.user_files import refuse_edited, write_whole
from lessons.engine import recall
from lessons.engine.conditions import Conditions
from lessons.engine.glossary import COMMAND
from lessons.engine.interval import Standing
from lessons.engine.lesson import Lesson
from lessons.engine.markup import plain
from lessons.engine.phrases import ENGLISH, phrase, speak
from lessons.engine.predict import BETWEEN, Prediction, Score, StudentAnswer
from lessons.engine.progress import ProgressFile
from lessons.engine.record import StepRecord
from lessons.engine.run import LessonSession, RunOptions, explain, show_recorded, step_record
from lessons.engine.screen import LONG_S, MARKS, WIDTH, Screen
from lessons.engine.source import imports_of
from lessons.engine.step import Step


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
    return as_bytes(notebook(cells))


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
        options = RunOptions(False, False, lambda _name, _svg: None, lambda _record: None, optional=True)
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
        step = self._step(name)
        prediction = step.question(self._session.page(step))
        if prediction is None:
            return
        if callable(step.predict):
            self._screen.ask(prediction.question, prediction.offer())
        understood = prediction.parse(str(answer))
        if understood:
            self._screen.say(f"Your answer: {understood.text}.")
        elif str(answer).strip():
            self._screen.say(f"`{answer}` is not one of the answers. {prediction.accepts()}. Then run this cell again.")
        self._asked[name] = (prediction, understood)

    def run(self, function: Callable[..., object], **arguments: float) -> None:
        """Run the code of a step, and print and explain its result. `arguments` are those of the short run."""
        step, screen = self._step(function.__name__), self._screen
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
        page = self._session.page(step)
        page.prediction, page.answer = self._asked.get(step.name) or (step.question(page), None)
        self._session.results[step.name] = result
        explain(step, page, result)
        show_recorded(self._lesson, step, page)
        self._done[step.name] = step_record(step, page, duration_s)
        self._save(short=bool(arguments))

    def finish(self) -> None:
        """Print the student's score, and the steps that have not run."""
        missing = [step.title for step in self._lesson.steps if step.name not in self._done and not step.optional]
        if missing:
            self._screen.say(f"These steps have not run: {', '.join(missing)}.")
        known = self._progress.load().get(self._lesson.name)
        self._screen.score(Score.of(known.predictions.values() if known else ()))

    def _result(self, step: Step[object], function: Callable[..., object], arguments: Mapping[str, float]) -> object:
        if step.needs:
            self._session.results[step.needs.name]
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
            done.append(self._done.get(step.name) or StepRecord(step.name, step.title, 0.0, None, ()))
        if not any(record.name in self._done for record in done):
            return
        self._session.done = done
        record = replace(self._session.record(), fast=short, duration_s=sum(each.duration_s for each in done))
        try:
            self._progress.save(record)
        except UsageError as error:
            self._screen.note(str(error))

    def _step(self, name: str) -> Step[object]:
        names = [step.name for step in self._lesson.steps]
        if name not in names:
            raise UsageError(f"The lesson has no step {name}. Its steps: {', '.join(names)}.")
        return self._lesson.steps[names.index(name)]


def _step_cells(step: Step[object], number: int, *, fast: bool) -> list[Cell]:
    arguments = "".join(f", {name}={value!r}" for name, value in step.fast.items()) if fast else ""
    code = "\n\n\n".join(text for text in (step.given_code, step.code) if text)
    optional = " (optional)" if step.optional else ""
    cells = [
        _words(step.name, f"## {number}. {step.title}{optional}\n\n{step.introduction}"),
        _code(f"{step.name}-code", code),
    ]
    run = f"guide.run({step.name}{arguments})"
    if step.predict is not None:
        if not callable(step.predict):
            cells.append(_words(f"{step.name}-question", _question(step.predict)))
        cells.append(_code(f"{step.name}-predict", f'guide.predict("{step.name}", answer="")'))
    return [
        *cells,
        _code(f"{step.name}-run", f"# Remove the # to run this optional step.\n# {run}" if step.optional else run),
    ]


def _question(prediction: Prediction) -> str:
    """Return the text of a question and its options for the cell above the answer."""
    options = "\n".join(f"- {option}" for option in prediction.offer().split(BETWEEN))
    return f"**{phrase('Predict')}** {markdown(prediction.question)}\n\n{markdown(options)}"


def _words(id_: str, text: str) -> Cell:
    return Cell(f"{id_}-words"[:64], "markdown", text)


def _code(id_: str, text: str) -> Cell:
    return Cell(id_[:64], "code", text)


def _imports(lesson: Lesson) -> str:
    code = "\n".join(text for step in lesson.steps for text in (step.given_code, step.code))
    imports = imports_of(Path(lesson.file), needed_by=code)
    language = f', language="{lesson.language}"' if lesson.language else ""
    return f'{imports}\n\nguide = Guide("lessons.{lesson.name}"{language})'


def _title(lesson: Lesson) -> str:
    return (
        f"# Lesson {lesson.number} · {lesson.title}\n\n{lesson.opening}\n\n{_time_and_prerequisites(lesson)}"
        "Run the cells from top to bottom. Before you run the cell below a question, type your answer between its "
        "quotes: the letter of an option, or a number. After a restart of the kernel, first run the first two code "
        "cells again.\n\n"
        f"`{COMMAND} TERM` explains a term."
    )


def _time_and_prerequisites(lesson: Lesson) -> str:
    """Return the paragraph with the minutes for the lesson and its exercise, and the lessons that prepare for it."""
    entry = lesson.entry
    exercise = f", and {entry.exercise_minutes} minutes for its exercise" if entry.exercise_minutes else ""
    return f"{entry.minutes} minutes{exercise}. {entry.advice}".rstrip() + "\n\n"


def _closing(lesson: Lesson) -> str:
    points = "\n".join(f"- {point}" for point in lesson.key_points)
    references = "\n".join(f"- {reference}" for reference in lesson.references)
    return f"## Key points\n\n{points}\n\n## References\n\n{references}\n\n## Your turn\n\n{_your_turn(lesson)}"


def _your_turn(lesson: Lesson) -> str:
    file = f"Or edit `lessons/exercises/{lesson.name}.py`, then run `fairclock check {lesson.name}`."
    return f"Open the exercise as a notebook: `notebooks/{lesson.name}.ipynb`. {file}"


class NotebookScreen(Screen):
    """A screen that shows paragraphs as Markdown in a notebook, tables as HTML, and drawings as SVG."""

    def ask(self, question: str, offer: str, *, label: str = "Predict") -> None:
        """Show a question, and each of its options on a line of its own."""
        self._prose(question, phrase(label))
        self._prose("\n".join(f"- {option}" for option in offer.split(BETWEEN)))

    def table(self, table: Table) -> None:
        """Show a table with its title above it."""
        heads, rows = map(plain, table.heads), table.rows
        whole = Table(plain(table.title), [*heads], rows, table.numeric)
        self._show(whole.to_text(), whole.to_html())

    def picture(self, text: str, caption: str) -> None:
        """Show text whose line breaks count, such as the output of a program, below its caption."""
        self._prose(caption)
        characters = Text.from_ansi(text).plain
        self._show(characters, f"<pre>{escape(characters)}</pre>")

    def drawing(self, text: str, svg: str, caption: str) -> None:
        """Show a drawing as SVG below its caption."""
        self._image("svg+xml", svg.encode(), caption, text)

    def photo(self, path: Path, caption: str) -> None:
        """Show the picture in the PNG file `path` below its caption."""
        self._image("png", path.read_bytes(), caption, str(path))

    def claim_line(self, standing: Standing, sentence: str, value: str) -> None:
        """Show the mark for the result `standing`, the sentence of a claim, and the measured value."""
        self._prose(f"{MARKS[standing][0]} {sentence}{f' ({value})' if value else ''}")

    @contextmanager
    def measuring(self, name: str, usual_s: float) -> Iterator[None]:
        """Show which step runs and how long it usually takes, and after the `with` block how long it took."""
        from IPython.display import DisplayHandle  # noqa: PLC0415 - only notebooks have IPython

        line = DisplayHandle()  # type: ignore[no-untyped-call]
        lasts = f", about {seconds(usual_s, 1)}" if usual_s >= LONG_S else ""
        line.display({"text/plain": f"Running {name}{lasts} …"}, raw=True)  # type: ignore[no-untyped-call]
        began_s = time.perf_counter()
        try:
            yield
        finally:
            ran = f"Ran {name} in {seconds(time.perf_counter() - began_s, 2)}."
            line.update({"text/plain": ran}, raw=True)  # type: ignore[no-untyped-call]

    def _image(self, kind: str, data: bytes, caption: str, text: str) -> None:
        self._prose(caption)
        words, encoded = escape(plain(caption)), b64encode(data).decode()
        self._show(text, f'<img alt="{words}" src="data:image/{kind};base64,{encoded}">')

    def _prose(self, text: str, label: str = "", style: str = "") -> None:
        del style  # Markdown has no colours
        words = f"**{label}** {markdown(text)}" if label else markdown(text)
        words = f"> {words}" if self._quoting else words
        self._display({"text/plain": words, "text/markdown": words})

    def _show(self, text: str, html: str) -> None:
        quoted = f"<blockquote>{html}</blockquote>" if self._quoting else html
        self._display({"text/plain": text, "text/html": quoted})

    def _display(self, data: dict[str, str]) -> None:
        from IPython.display import display  # noqa: PLC0415 - only notebooks have IPython

        display(data, raw=True)  # type: ignore[no-untyped-call]  # IPython's functions have no types

    def _part(self, kind: str) -> None:
        """Print no empty line, because a notebook separates its outputs."""


def markdown(text: str) -> str:
    """Return a text of a lesson as Markdown. Outside of code, `<` is escaped, so that it does not begin an HTML tag."""
    parts = text.split("`")
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def for_this_process() -> Screen:
    """Return a `NotebookScreen` if this process is the kernel of a notebook, and otherwise a `Screen`."""
    console = Console(force_jupyter=False, width=WIDTH)
    return NotebookScreen(console) if _in_a_kernel() else Screen(console)


def _in_a_kernel() -> bool:
    try:
        from IPython import get_ipython  # noqa: PLC0415 - only notebooks have IPython
    except ImportError:
        return False
    return hasattr(get_ipython(), "kernel")
