"""Functions that write a lesson as a Jupyter notebook. Its code cells contain the code that the screen shows.

Each step becomes up to four cells: the text, the code, the question, and the run with its explanation. The student
types a prediction into the cell of the question. The ids of the cells come from the names of the steps. If a lesson
changes and its notebook is written again, only the cells of the changed steps differ.
"""

import importlib
from base64 import b64encode
from html import escape
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.errors import UsageError
from harness.rendering.tables import Table
from harness.storage.notebook_files import Cell, as_bytes, is_unedited, kernel_cell, notebook
from harness.storage.user_files import refuse_edited, write_whole
from lessons.engine import recall
from lessons.engine.conditions import Conditions
from lessons.engine.glossary import COMMAND
from lessons.engine.interval import Standing
from lessons.engine.lesson import Lesson
from lessons.engine.markup import plain
from lessons.engine.page import Page, Results
from lessons.engine.predict import BETWEEN, Prediction, StudentAnswer
from lessons.engine.run import explain, show_recorded
from lessons.engine.screen import MARKS, WIDTH, Screen
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
    before, questions = recall.about_lesson_before(lesson.name)
    if questions:
        cells.append(_words("recall", recall.as_markdown(before, questions)))
    # `Guide` is imported before torch, so that torch prints nothing about a missing GPU.
    cells.append(kernel_cell("from lessons.engine.notebook import Guide"))
    cells.append(_code("imports", _imports(lesson)))
    for number, step in enumerate(lesson.steps, start=1):
        cells += _step_cells(step, number, fast=fast)
    cells.append(_words("closing", _closing(lesson)))
    return as_bytes(notebook(cells))


class Guide:
    """The object that a notebook's cells use to ask the questions of a lesson and to explain its results."""

    def __init__(self, module: str) -> None:
        self._lesson: Lesson = importlib.import_module(module).lesson
        self._screen = for_this_process()
        self._noise = Conditions.measure().noise
        self._results: Results = {}
        self._asked: dict[str, tuple[Prediction, StudentAnswer | None]] = {}

    def predict(self, name: str, answer: str = "") -> None:
        """Print the question of the step `name`, and keep the student's answer. An empty answer skips the question."""
        step = self._step(name)
        prediction = step.question(self._page(step))
        if prediction is None:
            return
        self._screen.ask(prediction.question, prediction.offer())
        understood = prediction.parse(answer)
        if answer.strip() and understood is None:
            self._screen.say(
                f"`{answer}` is not one of the answers. Put an answer between the quotes and run this cell again."
            )
        self._asked[name] = (prediction, understood)

    def explain(self, name: str, result: object) -> None:
        """Print the result of the step `name` with its explanation."""
        step = self._step(name)
        self._results[name] = result
        page = self._page(step)
        page.prediction, page.answer = self._asked.get(name) or (step.question(page), None)
        explain(step, page, result)
        show_recorded(self._lesson, step, page)

    def _step(self, name: str) -> Step[object]:
        return next(step for step in self._lesson.steps if step.name == name)

    def _page(self, step: Step[object]) -> Page:
        return Page(self._screen, self._noise, step.claims, self._results, lambda _name, _svg: None)


def _step_cells(step: Step[object], number: int, *, fast: bool) -> list[Cell]:
    arguments = ", ".join(f"{name}={value!r}" for name, value in step.fast.items()) if fast else ""
    code = "\n\n\n".join(text for text in (step.given_code, step.code) if text)
    cells = [
        _words(step.name, f"## {number}. {step.title}\n\n{step.introduction}"),
        _code(f"{step.name}-code", code),
    ]
    if step.predict is not None:
        cells.append(_code(f"{step.name}-predict", f'guide.predict("{step.name}", answer="")'))
    run = f'guide.explain("{step.name}", {step.name}({arguments}))'
    return [*cells, _code(f"{step.name}-run", run)]


def _words(id_: str, text: str) -> Cell:
    return Cell(f"{id_}-words"[:64], "markdown", text)


def _code(id_: str, text: str) -> Cell:
    return Cell(id_[:64], "code", text)


def _imports(lesson: Lesson) -> str:
    code = "\n".join(text for step in lesson.steps for text in (step.given_code, step.code))
    imports = imports_of(Path(lesson.file), needed_by=code)
    return f'{imports}\n\nguide = Guide("lessons.{lesson.name}")'


def _title(lesson: Lesson) -> str:
    return (
        f"# Lesson {lesson.number} · {lesson.title}\n\n{lesson.opening}\n\n{_time_and_prerequisites(lesson)}"
        "Run the cells from top to bottom. Before you run a question's cell, type your "
        "prediction between its quotes.\n\n"
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
        self._prose(question, label)
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
