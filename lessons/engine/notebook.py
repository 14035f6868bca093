"""A lesson as a Jupyter notebook: its cells are the sources of the functions that the screen shows and runs.

Each step becomes four cells: the words, the code, the question, and the run with its explanation. The
notebook asks no input: a prediction is typed into the cell that poses the question, and `Guide` then judges
it. Cell ids come from the steps' names, so a notebook written anew differs only where the lesson does.
"""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from harness.errors import UsageError
from harness.files import put
from harness.notebook_files import Cell, as_bytes, is_unedited, notebook
from harness.overwriting import refuse_edited
from lessons.engine.lesson import Lesson, Step
from lessons.engine.page import Page, Results
from lessons.engine.run import explain
from lessons.engine.screen import WIDTH, Screen
from lessons.engine.source import imports_of
from lessons.engine.today import Today

if TYPE_CHECKING:
    from lessons.engine.predict import Answer, Prediction


def write(lesson: Lesson, path: Path, *, fast: bool, force: bool = False) -> None:
    """Write the lesson to `path` as a valid notebook; `fast` makes its calls the short ones.

    Raises `UsageError` when it cannot be written, and when a person may have edited what is there, unless `force` is
    given.
    """
    data = made(lesson, fast=fast)
    refuse_edited(path, force=force, is_ours=lambda old: is_unedited(old, data))
    try:
        put(path, data)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); name another file.") from error


def made(lesson: Lesson, *, fast: bool) -> bytes:
    """Return the lesson's notebook as its file holds it."""
    cells = [_words("title", _title(lesson)), _code("imports", _imports(lesson))]
    for number, step in enumerate(lesson.steps, start=1):
        cells += _step_cells(step, number, fast=fast)
    cells.append(_words("closing", _closing(lesson)))
    return as_bytes(notebook(cells))


class Guide:
    """What the cells of a notebook call: `predict` poses a step's question, `observe` explains its result."""

    def __init__(self, module: str) -> None:
        self._lesson: Lesson = importlib.import_module(module).lesson
        self._screen = Screen(Console(force_jupyter=False, width=WIDTH))
        self._noise = Today.measure().noise
        self._results: Results = {}
        self._asked: dict[str, tuple[Prediction, Answer | None]] = {}

    def predict(self, name: str, answer: str = "") -> None:
        """Pose the question of the step `name`; `answer` is the prediction, empty to skip."""
        step = self._step(name)
        prediction = step.question(self._page(step))
        if prediction is None:
            return
        self._screen.ask(prediction.question, prediction.offer())
        understood = prediction.parse(answer)
        if answer.strip() and understood is None:
            self._screen.say(f"`{answer}` is none of the answers; put one between the quotes and run this cell again.")
        self._asked[name] = (prediction, understood)

    def observe(self, name: str, result: object) -> None:
        """Show and explain what the teaching code of the step `name` has given."""
        step = self._step(name)
        self._results[name] = result
        page = self._page(step)
        page.prediction, page.answer = self._asked.get(name) or (step.question(page), None)
        explain(step, page, result)

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
    run = f'guide.observe("{step.name}", {step.name}({arguments}))'
    return [*cells, _code(f"{step.name}-run", run)]


def _words(id_: str, text: str) -> Cell:
    return Cell(f"{id_}-words"[:64], "markdown", text)


def _code(id_: str, text: str) -> Cell:
    return Cell(id_[:64], "code", text)


def _imports(lesson: Lesson) -> str:
    code = "\n".join(text for step in lesson.steps for text in (step.given_code, step.code))
    imports = imports_of(Path(lesson.file), needed_by=code)
    return f'{imports}\n\nfrom lessons.engine.notebook import Guide\n\nguide = Guide("lessons.{lesson.name}")'


def _title(lesson: Lesson) -> str:
    return (
        f"# Lesson {lesson.number} · {lesson.title}\n\n{lesson.objective}\n\n"
        f"{lesson.minutes} minutes. Run the cells from top to bottom; each question takes your prediction "
        "between its quotes, before you run what comes after it."
    )


def _closing(lesson: Lesson) -> str:
    points = "\n".join(f"- {point}" for point in lesson.key_points)
    references = "\n".join(f"- {reference}" for reference in lesson.references)
    return f"## Take along\n\n{points}\n\n## Read on\n\n{references}\n\n## Your turn\n\n{_your_turn(lesson)}"


def _your_turn(lesson: Lesson) -> str:
    return f"Edit `lessons/exercises/{lesson.name}.py`, then `python -m grader check {lesson.name}`."
