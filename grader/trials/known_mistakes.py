"""Find a wrong submission, known from before, that gives the same wrong answers as a student's submission.

The student then reads the known submission's docstring, which explains the mistake.
"""

import ast
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from grader import overlays
from grader.errors import WorkerFault
from grader.session import Session
from grader.task import Task
from grader.trials import native
from grader.trials.faults import Raised, blame_grader
from grader.trials.worker_client import WorkerClient, worker
from harness import syntax


def explanation(task: Task, session: Session, reproduced: Callable[[WorkerClient], int], failures: int) -> str:
    """Return the docstring of the known wrong submission that gives most of the student's wrong answers, or "".

    `reproduced` returns how many of the student's `failures` wrong answers the submission in a process gives.
    """
    best, most = "", 0
    pool, hidden = session.pool, tuple(session.pool.hidden)
    what = f"A known wrong answer of {task.full_name}"
    with blame_grader(what), pool.trusted(tensors=True) as tree, ExitStack() as stack:
        one = stack.enter_context(worker(tree, task.limits))
        for path in task.wrong_answers:
            try:
                one.load(native.built_once(task, overlays.whole(path), sandboxed=pool.sandboxed, hidden=hidden).timed)
                alike = reproduced(one)
            except Raised:
                continue
            except WorkerFault:  # its process may have ended, for example at the time limit on a busy machine
                one = stack.enter_context(worker(tree, task.limits))
                continue
            if alike > most:
                best, most = docstring(path), alike
            if most == failures:
                break
    return best


def docstring(path: Path) -> str:
    """Return the docstring of the file at `path` as one line of text."""
    text = ast.get_docstring(syntax.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split())
