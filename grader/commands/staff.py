"""All commands for instructors and authors."""

from collections.abc import Callable, Mapping
from typing import Final

from grader.authoring import stubs
from grader.commands import author, instructor

COMMANDS: Final[Mapping[str, Callable[..., int]]] = {
    "run": instructor.run_class,
    "report": instructor.report,
    "export": instructor.export_points,
    "release": instructor.release_kit,
    "stubs": stubs.command,
    "lint": author.lint_exercises,
    "calibrate": author.calibrate_machine,
}
