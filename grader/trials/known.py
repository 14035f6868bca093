"""Why an answer is wrong, when somebody has been wrong the same way before.

Each task's truth table has known wrong submissions. When one of them reproduces a student's answer on the failing case,
its docstring is what the student reads. Two may do so by chance, for that case is a small one: then the one that
reproduces more of the other failures explains.
"""

import ast
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from grader.errors import WorkerFault
from grader.settings import Settings
from grader.task import Task
from grader.trials import native
from grader.trials.faults import Raised, ours
from grader.trials.supervisor import Worker, worker


def explanation(
    task: Task, settings: Settings, reproduced: Callable[[Worker], int], *, failures: int, tensors: bool
) -> str:
    """The docstring of the known wrong submission that has most `failures` reproduced; empty when none has any."""
    best, most = "", 0
    what = f"A known wrong answer of {task.full_name}"
    place = native.Here(settings.pool.sandboxed, tuple(settings.pool.hidden))
    with ours(what), settings.pool.trusted(tensors=tensors) as tree, worker(tree, task.limits) as one:
        for path in task.wrong_answers:
            source = path.read_text(encoding="utf-8")
            try:
                one.load(native.built_once(task, source, place).timed)
                alike = reproduced(one)
            except (Raised, WorkerFault):
                continue
            if alike > most:
                best, most = docstring(path), alike
            if most == failures:
                break
    return best


def explanation_here(task: Task, reproduces: Callable[[str], bool]) -> str:
    """The first that reproduces all there is, in this process: for a source text that ends for certain."""
    for path in task.wrong_answers:
        with suppress(Exception, SystemExit):  # it was another way to be wrong
            if reproduces(path.read_text(encoding="utf-8")):
                return docstring(path)
    return ""


def docstring(path: Path) -> str:
    """A known submission's docstring, on one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split())
