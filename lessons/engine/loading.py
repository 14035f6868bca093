"""Load a lesson: its document, and the functions beside it that the document names."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import cast

from lessons.engine.document import DocumentStep
from lessons.engine.lesson import Compute, Lesson, Recorder, Step
from lessons.engine.parsing import load as load_document
from lessons.engine.source import defaults_of


def load(
    module_name: str, *, simulated: str = "", note: str = "", recorder: Recorder | None = None, language: str = ""
) -> Lesson:
    """Return the lesson of a module. Its document is the file beside it, `NAME.md`, or `NAME.ko.md` in Korean.

    `simulated` names the device that the lesson simulates on this machine, and `note` is printed before the objective.
    Raise `DocumentError` if the document has a mistake, or names a function that the module does not have.
    """
    module = sys.modules[module_name]
    file = Path(str(module.__file__))
    document = load_document(file.with_suffix(f".{language}.md" if language else ".md"))
    return Lesson(
        file,
        document,
        tuple(_step(module, file, step) for step in document.steps),
        recorder,
        simulated,
        note,
        language,
        translate=lambda other: load(module_name, simulated=simulated, note=note, recorder=recorder, language=other),
    )


def _step(module: ModuleType, file: Path, step: DocumentStep) -> Step:
    *_, function = (_named(module, step, name) for name in step.code)
    if unknown := step.fast.keys() - defaults_of(function).keys():
        raise step.place.error(f"{step.name} has no parameter {', '.join(sorted(unknown))} with a default.")
    return Step(file, step, function, cast("Compute", _named(module, step, f"{step.name}_figures")))


def _named(module: ModuleType, step: DocumentStep, name: str) -> Callable[..., object]:
    found = getattr(module, name, None)
    if not callable(found):
        raise step.place.error(f"{Path(str(module.__file__)).name} has no function {name}.")
    return cast("Callable[..., object]", found)
